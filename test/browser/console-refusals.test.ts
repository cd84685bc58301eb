import { expect } from "chai";
import { useProxy } from "../limiter/proxy.ts";
import { useAccount, useOwnService } from "../support/use-service.ts";
import { useBrowser } from "./support/browser.ts";
import { enterKey, openConsole, pulse, spoken, surfaceRow } from "./support/console.ts";

/** Chromium writes each refused response to its console. */
const VIEW = { causes: /^Failed to load resource/ };

describe("the console, when the service refuses", () => {
  const redis = useProxy({ port: Number(new URL(process.env["REDIS_URL"] ?? "redis://127.0.0.1:6379").port) });
  const service = useOwnService(() => ({ REDIS_URL: redis.url, LIMITER_TIMEOUT_MS: 1_000 }));
  const network = useProxy(service);
  const browser = useBrowser();
  const account = useAccount(service);

  it("says what is wrong with a key, and keeps none that does not work", async () => {
    const page = await openConsole(browser, service.url, VIEW);
    const enter = async (text: string) => {
      await page.getByLabel("API key").fill(text);
      await page.getByRole("button", { name: "Open the console" }).click();
    };
    const alert = page.getByRole("alert");
    await enter("");
    await alert.getByText("Paste a key.").waitFor();
    await enter("ключ");
    await alert.getByText("A key has letters, digits and underscores only.").waitFor();
    await enter("cos_live_wrong");
    await alert.getByText("API key invalid.").waitFor();
    expect(await page.getByLabel("API key").getAttribute("aria-invalid")).to.equal("true");
    expect(await page.evaluate("sessionStorage.length")).to.equal(0);
  });

  it("stops when the key is revoked, and asks again only if told to", async () => {
    const page = await openConsole(browser, service.url, VIEW);
    await enterKey(page, account.key);
    await service.operators.accounts.revokeKey(account.keyId);
    await page.getByText("API key revoked", { exact: true }).waitFor();
    await page.getByText("Stopped.").waitFor();
    expect(await spoken(page).textContent()).to.include("API key revoked");
    const refused = page.waitForResponse(/\/limits$/);
    await page.getByRole("button", { name: "Ask again (free)" }).click();
    expect((await refused).status()).to.equal(401);
  });

  it("stops while the account is suspended, and goes on when told to afterwards", async () => {
    const page = await openConsole(browser, service.url, VIEW);
    await enterKey(page, account.key);
    await service.operators.accounts.setStatus(account.id, "suspended");
    await page.getByText("Account suspended", { exact: true }).waitFor();
    await service.operators.accounts.setStatus(account.id, "active");
    await page.getByRole("button", { name: "Ask again (free)" }).click();
    await pulse(page).getByText("Live.").waitFor();
    expect(await page.getByText("Account suspended", { exact: true }).count()).to.equal(0);
  });

  it("says that the limits cannot be checked while Redis is down, and goes on by itself afterwards", async () => {
    const page = await openConsole(browser, service.url, VIEW);
    await enterKey(page, account.key);
    await surfaceRow(page, "create").waitFor();
    redis.refuse();
    await page.getByText("Limiter unavailable", { exact: true }).waitFor();
    await page.getByText(/Asks again in 00:0\d/).waitFor();
    await surfaceRow(page, "create").getByText("200 left of 200").waitFor(); // the last response stays
    redis.mend();
    await pulse(page).getByText("Live.").waitFor();
    expect(await spoken(page).textContent()).to.equal("The limits are live.");
  });

  it("says that the service cannot be reached, and goes on by itself afterwards", async () => {
    const origin = `http://127.0.0.1:${network.port}`;
    const page = await openConsole(browser, origin, VIEW);
    await enterKey(page, account.key);
    network.refuse();
    await page.getByText("The service cannot be reached", { exact: true }).waitFor();
    await page.getByRole("link", { name: "Candidates" }).click();
    await page.getByRole("button", { name: "Read candidates" }).click();
    await page.getByText("The request may have been charged.").waitFor();
    network.mend();
    await pulse(page).getByText("Live.").waitFor();
    await page.getByRole("button", { name: "Read candidates" }).click();
    await page.getByText("No candidate matches.").waitFor();
  });

  it("asks once, and not without pause, if a proxy says to wait for thousands of years", async () => {
    const page = await browser.open(service.url, VIEW);
    let isBusy = false;
    let asked = 0;
    await page.route(/\/limits$/, (route) => {
      if (!isBusy) return route.continue();
      asked++;
      return route.fulfill({ status: 429, headers: { "Retry-After": "99999999999" }, body: "busy" });
    });
    await page.goto(`${service.url}/console`);
    await enterKey(page, account.key);
    await surfaceRow(page, "create").waitFor();
    isBusy = true;
    await pulse(page)
      .getByText(/Asks again in 2[34]:/)
      .waitFor();
    expect(asked).to.equal(1);
  });

  it("says until when a surface is refused, before and after the click", async () => {
    const page = await openConsole(browser, service.url, VIEW);
    await enterKey(page, account.key);
    const { body } = await account.client.post("/candidates", { name: "Ada" });
    await page.evaluate(`location.hash = "#/candidates/${body.id}"`);
    await page.getByRole("button", { name: "Read the candidate" }).click();
    const button = page.getByRole("button", { name: "Prepare the pack as PDF" });
    await button.and(page.locator("[aria-disabled=false]")).waitFor();
    for (let n = 0; n < 10; n++) await account.client.get(`/candidates/${body.id}/pack`);
    await button.click(); // before the page has read that nothing is left
    await page.getByText("Too many requests", { exact: true }).waitFor();
    await page.getByText(/Refused until \d\d:\d\d:\d\d/).waitFor();
    await button.and(page.locator("[aria-disabled=true]")).waitFor();
    await page
      .getByText(/This key has no pack requests left. Again in [\d:]+\./)
      .first()
      .waitFor();
    expect(await account.used()).to.include({ pack: 10 });
  });
});
