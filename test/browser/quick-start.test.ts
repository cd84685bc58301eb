import { expect } from "chai";
import { useAccount, useService } from "../support/use-service.ts";
import { expectAccessible, screenshot, useBrowser } from "./support/browser.ts";

describe("the quick start", () => {
  const service = useService();
  const account = useAccount(service);
  const browser = useBrowser();

  it("works by clicking every example in turn", async () => {
    const page = await browser.open(service.url);
    await page.goto(`${service.url}/docs/quick-start`);
    await page.getByLabel("Your API key").fill(account.key);
    const examples = page.locator(".runnable");
    const statuses: string[] = [];
    for (let index = 0; index < (await examples.count()); index++) {
      const example = examples.nth(index);
      await example.getByRole("button", { name: "Run" }).click();
      const status = example.getByRole("status");
      await status.filter({ hasText: /^Status/ }).waitFor();
      statuses.push(/\d{3}/.exec((await status.textContent()) ?? "")?.[0] ?? "");
    }
    // The refusal is that of the dry run, which Chromium reports as an error.
    expect(statuses).to.deep.equal(["200", "422", "201", "200", "200", "200", "200", "204", "200"]);
    expect(browser.takeErrors(page).filter((error) => !error.includes("422"))).to.deep.equal([]);
    const last = await examples.last().locator(".output").textContent();
    expect(last, "the mirror learns of the deletion").to.match(/"deleted": true/);
    const { body } = await account.client.get("/candidates");
    expect(body.data).to.have.length(1);
    expect(
      await examples.nth(3).locator("code").first().textContent(),
      "the id has become part of the text",
    ).to.include(body.data[0]?.id);
    await screenshot(page, "docs-quick-start-run-1280-light");
    await page.emulateMedia({ colorScheme: "dark" });
    await page.setViewportSize({ width: 360, height: 900 });
    await screenshot(page, "docs-quick-start-run-360-dark");
    await expectAccessible(page);
  });

  it("keeps the key in this tab only, and forgets it", async () => {
    const page = await browser.open(service.url);
    await page.goto(`${service.url}/docs/quick-start`);
    await page.getByLabel("Your API key").fill(account.key);
    await page.reload();
    expect(await page.getByLabel("Your API key").inputValue()).to.equal(account.key);
    const stored = await page.evaluate<string>("JSON.stringify([localStorage, document.cookie])");
    expect(stored).not.to.include(account.key);
    const other = await page.context().newPage();
    await other.goto(`${service.url}/docs/quick-start`);
    expect(await other.getByLabel("Your API key").inputValue()).to.equal("");
    await page.getByRole("button", { name: "Forget the key" }).click();
    await page.reload();
    expect(await page.getByLabel("Your API key").inputValue()).to.equal("");
  });

  it("says what is missing before a request is sent", async () => {
    const page = await browser.open(service.url);
    const asked: string[] = [];
    await page.goto(`${service.url}/docs/quick-start`, { waitUntil: "networkidle" });
    page.on("request", (request) => asked.push(request.url()));
    const run = (index: number) => page.locator(".runnable").nth(index).getByRole("button", { name: "Run" }).click();
    const status = (index: number) => page.locator(".runnable").nth(index).getByRole("status").textContent();
    await run(0);
    expect(await status(0)).to.equal("Paste your API key into the field above first.");
    await page.getByLabel("Your API key").fill("ключ");
    await run(0);
    expect(await status(0)).to.equal("A key has letters, digits and underscores only.");
    await page.getByLabel("Your API key").fill(account.key);
    await run(3);
    expect(await status(3)).to.equal("Run the example that sets ID first.");
    expect(asked).to.deep.equal([]);
  });

  it("shows the refusal of a wrong key", async () => {
    const page = await browser.open(service.url);
    await page.goto(`${service.url}/docs/quick-start`);
    await page.getByLabel("Your API key").fill("cos_live_wrong");
    const first = page.locator(".runnable").first();
    await first.getByRole("button", { name: "Run" }).click();
    await first.getByRole("status").filter({ hasText: "Status 401" }).waitFor();
    expect(await first.textContent()).to.include("api_key_invalid");
    expect(browser.takeErrors(page).join()).to.include("401");
  });
});
