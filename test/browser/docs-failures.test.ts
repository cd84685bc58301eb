import { expect } from "chai";
import { useService } from "../support/use-service.ts";
import { useBrowser } from "./support/browser.ts";

describe("the documentation, when something fails", () => {
  const service = useService();
  const browser = useBrowser();

  it("says that the search could not be loaded, and tries again with the next letter", async () => {
    const page = await browser.open(service.url, { causes: /^Failed to load resource/ });
    let fails = true;
    await page.route("**/search.json", (route) => (fails ? route.abort() : route.continue()));
    await page.goto(`${service.url}/docs`);
    await page.keyboard.press("/");
    const dialog = page.getByRole("dialog");
    await dialog.waitFor();
    await page.keyboard.type("c"); // one letter only: a request for a second one could still be on its way, and fail
    await dialog.getByText("The search could not be loaded.").waitFor();
    fails = false;
    await page.keyboard.type("ursors");
    await dialog.getByRole("link").first().waitFor();
    expect(await dialog.getByRole("status").textContent()).to.match(/found/);
  });

  it("says that the browser does not let it copy", async () => {
    const page = await browser.open(service.url);
    await page.goto(`${service.url}/docs/limits`);
    await page.evaluate(`Object.defineProperty(navigator, "clipboard", { value: undefined })`);
    const button = page.getByRole("button", { name: "Copy" }).first();
    await button.click();
    await page.getByRole("button", { name: "Not copied" }).waitFor();
    await page.getByText("Select the code instead.").waitFor();
  });
});
