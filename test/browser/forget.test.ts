import { expect } from "chai";
import type { Page } from "playwright-core";
import { useAccount, useService } from "../support/use-service.ts";
import { useBrowser } from "./support/browser.ts";
import { addKey, enterKey, openConsole } from "./support/console.ts";

describe("a key that is forgotten", () => {
  const service = useService();
  const browser = useBrowser();
  const account = useAccount(service);
  const forget = (page: Page) => page.getByRole("button", { name: "Forget the key" }).click();
  const storedKeys = (page: Page) =>
    page.evaluate<number>(`Object.values(sessionStorage).flatMap((keys) => keys.split("\\n")).length`);

  it("ends the requests that were sent with it, and they change nothing", async () => {
    const page = await browser.open(service.url, { causes: /^Failed to load resource/ });
    const { key } = await account.another();
    const sent = page.waitForRequest((request) => request.headers()["authorization"] === `Bearer ${key}`);
    // The response never comes: the request ends only if the page ends it.
    await page.route(
      ({ pathname }) => pathname === "/limits",
      (route) => (route.request().headers()["authorization"] === `Bearer ${key}` ? undefined : route.continue()),
    );
    await page.goto(`${service.url}/console`);
    await enterKey(page, account.key);
    await addKey(page, key);
    await sent;
    const ended = page.waitForEvent("requestfailed");
    await forget(page);
    await ended;
    expect(await storedKeys(page)).to.equal(0);
    await enterKey(page, account.key);
    await page.locator("ul.keys li").waitFor();
    expect(await page.locator("#other-fault").textContent()).to.equal("");
    expect(await storedKeys(page), "the tab's own key").to.equal(1);
  });

  it("takes the account's other keys with it, also on the quick start", async () => {
    const page = await openConsole(browser, service.url);
    await enterKey(page, account.key);
    await addKey(page, (await account.another()).key);
    await page.locator("ul.keys li").nth(1).waitFor();
    expect(await storedKeys(page)).to.equal(2);
    await page.goto(`${service.url}/docs/quick-start`);
    await forget(page);
    expect(await storedKeys(page)).to.equal(0);
  });

  // Chromium keeps no page in memory under a debugger, so the test sends the events of such a page.
  for (const path of ["/console", "/docs/quick-start", "/docs/try"])
    it(`is gone from ${path} when the reader comes back to it`, async () => {
      const page = await openConsole(browser, service.url);
      await enterKey(page, account.key);
      await page.goto(service.url + path);
      const loaded = page.waitForEvent("load");
      await page.evaluate(`
        dispatchEvent(new PageTransitionEvent("pagehide", { persisted: true }));
        sessionStorage.clear();
        dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }));
      `);
      await loaded;
    });
});
