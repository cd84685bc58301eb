import { expect } from "chai";
import type { Page } from "playwright-core";
import type { LastDelivery, Webhook } from "../../src/webhooks/schema.ts";
import { useAccount, useService } from "../support/use-service.ts";
import { useReceiver } from "../webhooks/receiver.ts";
import { expectAccessible, screenshot, useBrowser } from "./support/browser.ts";
import { enterKey, openConsole, spoken } from "./support/console.ts";

const AT = "2026-08-17T09:30:00.000Z";
const LONG = `https://${"long-name.".repeat(9)}example.com/hooks?token=${"0123456789".repeat(20)}&end`;

describe("the console's webhooks", () => {
  const service = useService();
  const browser = useBrowser();
  const account = useAccount(service);
  const { client } = account;
  const receiver = useReceiver();

  const create = async (path: string) => (await client.post("/webhooks", { url: receiver.origin + path })).body.id;
  const openWebhooks = async (page: Page) => {
    await enterKey(page, account.key);
    await page.getByRole("link", { name: "Webhooks" }).click();
    await page.getByRole("heading", { level: 1, name: "Webhooks" }).waitFor();
  };
  const read = (page: Page) => page.getByRole("button", { name: "Read webhooks" }).click();
  const row = (page: Page, path: string) => page.getByRole("listitem").filter({ hasText: path });
  const testButton = (page: Page, path: string) => row(page, path).getByRole("button", { name: "Send a test nudge" });

  it("are read by a click, and none has a guide to begin with", async () => {
    const page = await openConsole(browser, service.url);
    await openWebhooks(page);
    expect(await page.title()).to.equal("Webhooks · Console");
    expect(await account.used(), "before a click").to.deep.equal({});
    await read(page);
    await page.getByText("The account has no webhook").waitFor();
    const guide = page.getByRole("main").getByRole("link", { name: "what webhooks do, and how to create one" });
    await expectAccessible(page);
    expect(await account.used()).to.deep.equal({ reads: 1 });
    const [opened] = await Promise.all([page.waitForResponse(/\/docs\/nudges$/), guide.click()]);
    expect(opened.status()).to.equal(200);
  });

  it("are tested with the keyboard, and the result is read out and stands in the row", async () => {
    await create("/good");
    await create("/bad");
    receiver.answer("/bad", (response) => response.writeHead(500).end());
    const page = await openConsole(browser, service.url);
    await openWebhooks(page);
    await read(page);
    await row(page, "/good").getByText("Last delivery: none yet.").waitFor();
    for (const [path, result] of [
      ["/good", "arrived: the receiver answered 204."],
      ["/bad", "failed: the receiver answered 500."],
    ] as const) {
      await testButton(page, path).and(page.locator("[aria-disabled=false]")).focus();
      await page.keyboard.press("Enter");
      await row(page, path).getByText(`The test nudge ${result}`).waitFor();
      expect(await spoken(page).textContent()).to.equal(`The test nudge ${result}`);
      expect(await row(page, path).textContent()).to.match(new RegExp(`Last delivery: [-0-9: ]+, ${result}`));
      expect(await page.evaluate("document.activeElement.textContent.trim()")).to.equal("Send a test nudge");
    }
    expect(await row(page, "/good").getByText("The test nudge").count(), "of an earlier test").to.equal(0);
    const firstRead = page.waitForResponse(/\/webhooks\/wh_\w+$/);
    receiver.answer("/good", (response) => void firstRead.then(() => response.writeHead(200).end()));
    await testButton(page, "/good").and(page.locator("[aria-disabled=false]")).click();
    await row(page, "/good").getByText("The test nudge arrived: the receiver answered 200.").waitFor();
    expect(receiver.received).to.have.length(3);
    expect(await account.used()).to.have.property("settings", 5);
  });

  it("stop asking for a result after five reads, and once the key is forgotten", async () => {
    await create("/silent");
    receiver.answer("/silent", () => undefined);
    const page = await browser.open(service.url);
    await page.clock.install();
    await page.goto(`${service.url}/console`);
    await openWebhooks(page);
    await read(page);
    const test = testButton(page, "/silent").and(page.locator("[aria-disabled=false]"));
    await Promise.all([page.waitForResponse(/\/test$/), test.click()]);
    await page.getByRole("button", { name: "Sending …" }).waitFor();
    for (let reads = 1; reads <= 5; reads++)
      await Promise.all([page.waitForResponse(/\/webhooks\/wh_\w+$/), page.clock.runFor(600 * 2 ** (reads - 1))]);
    await row(page, "/silent").getByText("The test nudge was sent. It has no result yet").waitFor();
    await page.clock.runFor(60_000);
    expect(await account.used()).to.deep.equal({ settings: 2, reads: 6 });

    await Promise.all([page.waitForResponse(/\/test$/), test.click()]);
    await page.getByRole("button", { name: "Forget the key" }).click();
    await page.getByLabel("API key").waitFor();
    await openWebhooks(page);
    await Promise.all([page.waitForResponse(/\/limits$/), page.clock.runFor(5_000)]);
    expect(await spoken(page).textContent(), "of a test with a key that is forgotten").not.to.include("reached");
    expect(await account.used()).to.deep.equal({ settings: 3, reads: 6 });
  });

  it("say in their row that one was deleted meanwhile", async () => {
    const id = await create("/deleted");
    const page = await openConsole(browser, service.url, { causes: /404 \(Not Found\)/ });
    await openWebhooks(page);
    await read(page);
    await testButton(page, "/deleted").waitFor();
    await client.request("DELETE", `/webhooks/${id}`);
    await testButton(page, "/deleted").click();
    await row(page, "/deleted").getByText("Not found", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Forget the key" }).click();
    await page.getByLabel("API key").waitFor();
    await openWebhooks(page);
    expect(await page.getByText("/deleted").count(), "after the key was forgotten").to.equal(0);
  });

  it("say in plain words why none is sent and what failed, to everyone, on a phone and a desktop", async () => {
    const times = { created_at: AT, updated_at: AT, version: 1 };
    const on = { enabled: true, disabled_reason: null, disabled_at: null };
    const facts = { object: "webhook", id: "", url: LONG, description: "<b>Mirror</b>", states: null } as const;
    const webhook: Webhook = { ...facts, ...times, ...on, last_delivery: null, next_attempt_at: null };
    const off = { enabled: false, disabled_at: AT } as const;
    const ended = (status: number | null, error: LastDelivery["error"]) => ({
      last_delivery: { at: AT, status, error },
    });
    const each: Partial<Webhook>[] = [
      { states: ["completed"], ...ended(null, "address") },
      { ...off, disabled_reason: "requested", ...ended(null, "tls") },
      { ...off, disabled_reason: "gone", states: ["withdrawn", "action_required"], ...ended(410, null) },
      { ...off, disabled_reason: "failing", ...ended(null, "timeout") },
      { ...ended(null, "connection") },
    ];
    const webhooks = each.map((changes, index): Webhook => ({ ...webhook, ...changes, id: `wh_${index}` }));
    const page = await openConsole(browser, service.url);
    await page.route(/\/webhooks$/, (route) => route.fulfill({ json: { object: "list", data: webhooks } }));
    await openWebhooks(page);
    await read(page);
    await page.getByText("wh_4").waitFor();
    const rows = await page.locator("ul.items > li").allInnerTexts();
    const expected = [
      /enabled.*<b>Mirror<.b>.*asks for nudges at changes to the states completed\..*failed: its name has no address, or one that nudges may not go to\./s,
      /disabled\ssince 2026-08-17 \d\d:\d\d: somebody turned it off\..*every change\..*: its certificate is not valid/s,
      /: the receiver answered 410 \(Gone\).*changes to the states withdrawn, action required\..*failed: the receiver answered 410\./s,
      /disabled\ssince .*: the last retry failed.*failed: no answer came within 15 seconds\./s,
      /failed: no connection could be made, or it broke\./,
    ];
    for (const [index, text] of expected.entries()) expect(rows[index]).to.match(text);
    const heading = page.getByRole("heading", { level: 2 }).first();
    expect(await heading.innerText()).to.match(/^https:\/\/long-name\..{40,50}….*&end$/);
    expect(await heading.getAttribute("title")).to.equal(LONG);
    for (const colorScheme of ["light", "dark"] as const)
      for (const width of [390, 1280]) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 900 });
        await screenshot(page, `console-webhooks-${width}-${colorScheme}`);
        expect(await page.evaluate("document.documentElement.scrollWidth > innerWidth"), `${width}`).to.equal(false);
        await expectAccessible(page);
      }
  });
});
