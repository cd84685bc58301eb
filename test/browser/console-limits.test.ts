import { expect } from "chai";
import type { Page } from "playwright-core";
import { PERIOD_MS } from "../../src/site/browser/console/watch.ts";
import { earlyInWindow, useTestRedis } from "../limiter/support.ts";
import { useAccount, useService } from "../support/use-service.ts";
import { useBrowser } from "./support/browser.ts";
import { addKey, enterKey, openConsole, pulse, setHidden, spoken, surfaceRow } from "./support/console.ts";

/** Long enough to spend a window in its first quarter and to see that on the page before it ends. */
const WINDOW_SECONDS = 16;

describe("the console's limits", () => {
  const service = useService();
  const withShortWindow = useService({ LIMIT_WINDOW_SECONDS: WINDOW_SECONDS });
  const redis = useTestRedis();
  const browser = useBrowser();
  const account = useAccount(service);

  it("show a limit being reached, which keys spent it, and the restart", async () => {
    const owner = await withShortWindow.account();
    const { key, keyId, client } = owner;
    const other = await owner.another();
    const { body } = await client.post("/candidates");
    const page = await openConsole(browser, withShortWindow.url);
    await enterKey(page, key);
    const row = surfaceRow(page, "start");
    const meter = row.getByRole("meter", { name: "Account, start requests used" });
    await earlyInWindow(redis, WINDOW_SECONDS);

    for (let n = 0; n < 10; n++) await client.post(`/candidates/${body.id}/start`);
    await row.getByText("Spent by this key 10.").waitFor();
    await row.getByText("none left of 10").waitFor();
    expect(await meter.getAttribute("aria-valuetext")).to.equal("10 of 20 used");
    expect(await spoken(page).textContent()).to.equal("This key: no start requests are left.");

    for (let n = 0; n < 10; n++) await other.client.post(`/candidates/${body.id}/start`);
    await addKey(page, other.key);
    const end = other.keyId.slice(-6);
    await row.getByText(`Spent by this key 10, key_…${end} 10. The account has none left.`).waitFor();
    expect(await page.locator("ul.keys").textContent())
      .to.include(keyId)
      .and.to.include(other.keyId);
    expect(await row.locator(".reset").textContent()).to.match(/restarts in 00:\d\d/);

    await row.getByText("20 left of 20").waitFor({ timeout: 2 * WINDOW_SECONDS * 1000 });
    expect(await row.getByText("Spent by").count()).to.equal(0);
    expect(await spoken(page).textContent()).to.include("Account: 20 start requests are left again.");
  });

  it("show all seven surfaces at both levels, and the key's grants", async () => {
    await service.operators.grants.create({
      keyId: account.keyId,
      surface: "create",
      amount: 5000,
      expiresInHours: 24,
      approvedBy: "Ann",
      reason: "backfill",
    });
    await account.client.post("/candidates");
    await (await account.another()).client.post("/candidates");
    const page = await openConsole(browser, service.url);
    await enterKey(page, account.key);
    await page.getByText("5,000 left of 5,000").waitFor();
    const levels = await page
      .getByRole("meter")
      .evaluateAll((all: { ariaLabel: string }[]) => all.map(({ ariaLabel }) => ariaLabel));
    expect(levels).to.deep.equal(
      ["create", "start", "reads", "list", "writes", "pack", "settings"].flatMap((surface) => [
        `Account, ${surface} requests used`,
        `This key, ${surface} requests used`,
      ]),
    );
    await surfaceRow(page, "create").getByText("198 left of 200").waitFor();
    await surfaceRow(page, "create").getByText("Spent by this key 1, other keys 1.").waitFor();
    await surfaceRow(page, "create").getByText("99 left of 100").waitFor();
  });

  it("are asked for every few seconds, not while the tab is hidden, and again once it is seen", async () => {
    const page = await browser.open(service.url);
    await page.clock.install();
    const asked = countLimits(page);
    const answered = () => page.waitForResponse(/\/limits$/);
    await page.goto(`${service.url}/console`);
    await Promise.all([answered(), enterKey(page, account.key)]);
    const next = async (ms: number) => Promise.all([answered(), page.clock.runFor(ms)]);
    await pulse(page).getByText("Live.").waitFor();
    await next(1); // the watch starts at once
    await page.clock.runFor(PERIOD_MS - 100);
    const before = asked.length;
    await next(200);
    expect(asked.length).to.equal(before + 1);

    await setHidden(page, true);
    await page.clock.runFor(600_000);
    expect(asked.length, "while it is hidden").to.equal(before + 1);
    await Promise.all([answered(), setHidden(page, false).then(() => page.clock.runFor(1))]);
    expect(asked.length).to.equal(before + 2);
    await page.getByText("Live. Read just now.").waitFor();
  });

  it("are reached by keyboard, and the focus follows", async () => {
    const page = await openConsole(browser, service.url);
    await page.getByLabel("API key").focus();
    await page.keyboard.type(account.key);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Limits" }).waitFor();
    const focused = () => page.evaluate("document.activeElement.textContent.trim()");
    expect(await focused()).to.equal("Limits");
    await page.keyboard.press("Shift+Tab");
    expect(await focused()).to.equal("Forget the key");
    await page.keyboard.press("Shift+Tab");
    expect(await focused()).to.equal("Webhooks");
    await page.keyboard.press("Shift+Tab");
    expect(await focused()).to.equal("Candidates");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Candidates" }).waitFor();
    expect(await focused()).to.equal("Candidates");
    expect(await page.evaluate("document.activeElement.tagName")).to.equal("H1");
  });

  it("refuse the key of another account, and one that is here already", async () => {
    const stranger = await service.account();
    const page = await openConsole(browser, service.url);
    await enterKey(page, account.key);
    await addKey(page, stranger.key);
    await page.getByText("This key belongs to another account.").waitFor();
    await addKey(page, account.key);
    await page.getByText("This key is already here.").waitFor();
    expect(await page.locator("ul.keys li").count()).to.equal(1);
  });

  it("outlive a reload of the tab, and are forgotten with the key", async () => {
    const page = await openConsole(browser, service.url);
    await enterKey(page, account.key);
    await page.reload();
    await surfaceRow(page, "create").waitFor();
    await page.getByRole("button", { name: "Forget the key" }).click();
    await page.getByLabel("API key").waitFor();
    expect(await page.evaluate("JSON.stringify(sessionStorage)")).not.to.include(account.key);
    await page.reload();
    await page.getByLabel("API key").waitFor();
    expect(await surfaceRow(page, "create").count()).to.equal(0);
  });
});

/** Every request of GET /limits from now on. */
function countLimits(page: Page): string[] {
  const asked: string[] = [];
  page.on("request", (request) => {
    if (request.url().endsWith("/limits")) asked.push(request.url());
  });
  return asked;
}
