import { expect } from "chai";
import type { Page } from "playwright-core";
import { useService, useSharedAccount } from "../support/use-service.ts";
import { expectAccessible, screenshot, useBrowser } from "./support/browser.ts";

/** One page of each kind. */
const KINDS = {
  front: "/docs",
  "quick-start": "/docs/quick-start",
  states: "/docs/states",
  reference: "/docs/reference",
  operations: "/docs/reference-references",
  headers: "/docs/headers",
  try: "/docs/try",
  missing: "/docs/no-such-page",
};

describe("the documentation in a browser", () => {
  const service = useService();
  const browser = useBrowser();

  for (const [name, path] of Object.entries(KINDS))
    it(`can be read by everyone, on a phone and a desktop, in light and dark: ${name}`, async () => {
      const page = await browser.open(service.url);
      await page.goto(service.url + path, { waitUntil: "networkidle" });
      if (name === "missing") expect(browser.takeErrors(page).join()).to.include("404");
      for (const colorScheme of ["light", "dark"] as const)
        for (const width of [360, 1280]) {
          await page.emulateMedia({ colorScheme });
          await page.setViewportSize({ width, height: 900 });
          await screenshot(page, `docs-${name}-${width}-${colorScheme}`, false);
          expect(await isWiderThanTheWindow(page), `${width} wide: it scrolls sideways`).to.equal(false);
          await expectAccessible(page);
        }
    });

  const isWiderThanTheWindow = (page: Page) => page.evaluate("document.documentElement.scrollWidth > innerWidth");

  it("lands on a problem by its code", async () => {
    const page = await browser.open(service.url);
    await page.goto(`${service.url}/docs#rate_limited`);
    const heading = page.getByRole("heading", { name: "rate_limited" });
    const box = await heading.boundingBox();
    expect(box?.y, "below the bar at the top").to.be.within(40, 300);
  });

  it("shows the command that installs the client from this service", async () => {
    const page = await browser.open(service.url);
    await page.goto(`${service.url}/docs/client`);
    const command = await page.locator(".code code").first().textContent();
    expect(command)
      .to.match(/^npm install "http/)
      .and.include(`"${service.url}/docs/client/`);
  });

  it("can be used with the keyboard alone", async () => {
    const page = await browser.open(service.url);
    await page.goto(`${service.url}/docs/quick-start`);
    const focused = () =>
      page.evaluate<string>("document.activeElement.id || document.activeElement.textContent.trim()");
    await page.keyboard.press("Tab");
    expect(await focused()).to.equal("Skip to the content");
    await page.keyboard.press("Enter");
    expect(await focused()).to.equal("content");
    await page.keyboard.press("/");
    expect(await focused()).to.equal("search-text");
    await page.keyboard.type("rate limited");
    await page
      .getByRole("dialog")
      .getByRole("link", { name: /rate_limited/ })
      .first()
      .waitFor();
    await screenshot(page, "docs-search-1280-light", false);
    await expectAccessible(page);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Escape");
    expect(await page.getByRole("dialog").isVisible()).to.equal(false);
  });

  it("finds a field, and opens the place where it is described", async () => {
    const page = await browser.open(service.url);
    await page.goto(`${service.url}/docs`);
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByLabel("Search the documentation").fill("reference_requirements");
    await page.getByRole("status").filter({ hasText: /found/ }).waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(/docs\/.+/);
    expect(await page.getByRole("main").textContent()).to.include("reference_requirements");
  });

  it("opens the list of pages from a button on a phone", async () => {
    const page = await browser.open(service.url, { width: 360 });
    await page.goto(`${service.url}/docs/quick-start`);
    const entry = page.getByRole("navigation", { name: "Documentation" }).getByRole("link", { name: "Schemas" });
    expect(await entry.isVisible()).to.equal(false);
    await page.getByRole("button", { name: "Menu" }).click();
    await screenshot(page, "docs-menu-360-light", false);
    await entry.click();
    await page.waitForURL(/schemas/);
  });

  it("needs no script to be read", async () => {
    const page = await browser.open(service.url, { javaScriptEnabled: false });
    await page.goto(`${service.url}/docs/quick-start`);
    await page.getByRole("link", { name: "Schemas" }).click();
    await page.getByRole("heading", { level: 1, name: "Schemas" }).waitFor();
  });
});

describe("trying it out", () => {
  const service = useService();
  const account = useSharedAccount(service);
  const browser = useBrowser();

  it("sends a request with the key that the quick start was given", async () => {
    const page = await browser.open(service.url);
    await page.goto(`${service.url}/docs/quick-start`);
    await page.getByLabel("Your API key").fill(account.key);
    await page.goto(`${service.url}/docs/try`);
    await page
      .getByRole("button", { name: /\/limits/ })
      .first()
      .click();
    await page.getByRole("button", { name: "Execute" }).click();
    await page.locator(".live-responses-table .response-col_status", { hasText: "200" }).waitFor();
    expect(await page.locator(".live-responses-table").textContent()).to.include(account.keyId);
    await screenshot(page, "docs-try-answer-1280-light");
  });
});
