import { expect } from "chai";
import type { Page } from "playwright-core";
import { UsageStore } from "../../src/usage/store.ts";
import { useAccount, useService } from "../support/use-service.ts";
import { expectAccessible, screenshot, useBrowser } from "./support/browser.ts";
import { enterKey, openConsole } from "./support/console.ts";

const HOUR_MS = 3_600_000;

describe("the console's last 24 hours", () => {
  const service = useService();
  const browser = useBrowser();
  const account = useAccount(service);
  const usage = (page: Page) => page.getByRole("region", { name: "Last 24 hours" }).first();

  it("show in words and as bars what the account made and was refused, on a phone too", async () => {
    const now = Math.floor(Date.now() / HOUR_MS);
    const counted = { account: account.id, key_id: account.keyId };
    const usages = [
      { ...counted, hour: now - 3, surface: "list", used: 120, refused: 35 },
      { ...counted, hour: now - 3, surface: "reads", used: 10, refused: 0 },
      { ...counted, hour: now - 1, surface: "create", used: 7, refused: 1 },
    ] as const;
    await new UsageStore(service.operators.mongo).write(usages, "test");
    const page = await openConsole(browser, service.url);
    await enterKey(page, account.key);
    await usage(page).getByText("137 requests were admitted, and 36 were refused (429), most of them at").waitFor();
    const worst = new Date((now - 3) * HOUR_MS).toISOString();
    expect(await usage(page).locator("p time").first().getAttribute("datetime")).to.equal(worst);
    const heights = await usage(page)
      .locator("svg rect")
      .evaluateAll((all: { getAttribute(name: string): string }[]) =>
        all.map((each) => Number(each.getAttribute("height"))),
      );
    expect(heights.filter((height) => height > 0)).to.have.length(4); // used in two hours, refused in the same two
    expect(Math.max(...heights.map((height, index) => height + (heights[index + 1] ?? 0)))).to.be.within(90, 100);

    for (const colorScheme of ["light", "dark"] as const)
      for (const width of [360, 1280]) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 900 });
        await screenshot(page, `console-usage-${width}-${colorScheme}`);
        expect(await page.evaluate("document.documentElement.scrollWidth > innerWidth"), `${width} wide`).to.equal(
          false,
        );
        await expectAccessible(page);
      }
  });

  it("are empty for an account without requests, and go with the key", async () => {
    const page = await openConsole(browser, service.url);
    await enterKey(page, account.key);
    await usage(page).getByText("0 requests were admitted, and none was refused (429).").waitFor();
    await page.getByRole("button", { name: "Forget the key" }).click();
    await page.getByLabel("API key").waitFor();
    expect(await usage(page).count()).to.equal(0);
  });
});
