import type { Locator, Page } from "playwright-core";
import type { Browser, View } from "./browser.ts";

/** Opens /console in a new tab, before a key is entered. */
export async function openConsole(browser: Browser, origin: string, view?: View): Promise<Page> {
  const page = await browser.open(origin, view);
  await page.goto(`${origin}/console`);
  return page;
}

/** Enters a key and waits for the limits. */
export async function enterKey(page: Page, key: string): Promise<void> {
  await page.getByLabel("API key").fill(key);
  await page.getByRole("button", { name: "Open the console" }).click();
  await page.getByRole("heading", { level: 1, name: "Limits" }).waitFor();
}

/** Enters a key and opens the page of candidates. */
export async function openCandidates(page: Page, key: string): Promise<void> {
  await enterKey(page, key);
  await page.getByRole("link", { name: "Candidates" }).click();
}

/** Enters another key of the same account on the page of limits. */
export async function addKey(page: Page, key: string): Promise<void> {
  await page.getByLabel("Another key of this account").fill(key);
  await page.getByRole("button", { name: "Add the key" }).click();
}

/** Returns the row of a surface on the page of limits. */
export function surfaceRow(page: Page, surface: string): Locator {
  return page.locator(`li.surface[data-surface=${surface}]`);
}

/** Says how fresh the limits are. */
export function pulse(page: Page): Locator {
  return page.locator("p.pulse");
}

/** What a screen reader says. */
export function spoken(page: Page): Locator {
  return page.getByRole("status");
}

/** Makes the page believe that its tab is hidden, or is seen again. Chromium without a screen never hides a tab itself. */
export async function setHidden(page: Page, hidden: boolean): Promise<void> {
  await page.evaluate(`
    Object.defineProperty(document, "hidden", { configurable: true, get: () => ${String(hidden)} });
    document.dispatchEvent(new Event("visibilitychange"));
  `);
}
