import { mkdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createRequire } from "node:module";
import { expect } from "chai";
import { type BrowserContext, chromium, type Page } from "playwright-core";
import { useStarted } from "../../support/use-started.ts";

/** Nothing that Chromium does by itself may look like a request of the page. */
const ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

const SCREENSHOTS = fileURLToPath(new URL("../../../.data/screenshots/", import.meta.url));

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

export interface View {
  /** Width in CSS pixels. */
  readonly width?: number;
  readonly height?: number;
  readonly scheme?: "light" | "dark";
  readonly javaScriptEnabled?: boolean;
  /** Errors that the test causes on purpose: those of the console that match are not recorded. */
  readonly causes?: RegExp;
}

/** One Chromium for the tests of the `describe` that calls `useBrowser`. */
export interface Browser {
  /**
   * Opens an empty tab of a browser without history. It records every error of the console and every request that leaves
   * `origin`; `afterEach` fails if there is one, then closes it. Call `page.route` before `page.goto`. On a page that is
   * already open, Chromium may let one request through.
   */
  open(origin: string, view?: View): Promise<Page>;
  /** Takes back the errors that `open` recorded for this page so far, for a test that causes them on purpose. */
  takeErrors(page: Page): string[];
  stop(): Promise<void>;
}

/** Starts Chromium before the tests of the `describe` that calls this, and checks after each test what its pages did. */
export function useBrowser(): Browser {
  const browser = useStarted("The browser", start, (started) => started.stop());
  afterEach(() => browser.check());
  return browser;
}

async function start(): Promise<Browser & { check(): Promise<void> }> {
  const executablePath = process.env["CHROMIUM"];
  if (!executablePath) throw new Error("Run the tests with `npm run test:browser`: it finds Chromium.");
  const browser = await chromium.launch({ executablePath, args: ARGS });
  const errors = new Map<Page, string[]>();
  const contexts: BrowserContext[] = [];
  return {
    async open(origin, { width = 1280, height = 900, scheme = "light", javaScriptEnabled = true, causes } = {}) {
      const context = await browser.newContext({
        viewport: { width, height },
        colorScheme: scheme,
        reducedMotion: "reduce",
        javaScriptEnabled,
      });
      contexts.push(context);
      const page = await context.newPage();
      const found: string[] = [];
      errors.set(page, found);
      page.on("console", (message) => {
        const wrong = message.type() === "error" || message.type() === "warning";
        if (wrong && causes?.test(message.text()) !== true) found.push(message.text());
      });
      page.on("pageerror", (error) => found.push(String(error)));
      context.on("request", (request) => {
        // Chromium shows a PDF with an extension, whose files are its own.
        if (!/^(data|blob|chrome|chrome-extension):/.test(request.url()) && new URL(request.url()).origin !== origin)
          found.push(`a request to ${request.url()}`);
      });
      return page;
    },
    takeErrors: (page) => errors.get(page)?.splice(0) ?? [],
    async check() {
      const found = [...errors.values()].flat();
      errors.clear();
      await Promise.all(contexts.splice(0).map((context) => context.close()));
      expect(found, "errors in the console, and requests to other origins").to.deep.equal([]);
    },
    stop: () => browser.close(),
  };
}

interface Violation {
  id: string;
  impact: string | null;
  nodes: { html: string; failureSummary?: string }[];
}

/** Expects that axe finds nothing serious or critical on the page as it is now. */
export async function expectAccessible(page: Page): Promise<void> {
  // Evaluated by the debugger, so the page's Content-Security-Policy does not stop it.
  await page.evaluate(await readFile(AXE, "utf8"));
  const { violations } = await page.evaluate<{ violations: Violation[] }>('axe.run({ resultTypes: ["violations"] })');
  const serious = violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(
      ({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join("\n")}`,
    );
  expect(serious, `${page.url()} ${JSON.stringify(page.viewportSize())}`).to.deep.equal([]);
}

/** Writes a screenshot of the page to .data/screenshots, for people to look at. CI takes none. */
export async function screenshot(page: Page, name: string, fullPage = true): Promise<void> {
  if (process.env["CI"] === "true") return;
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage });
}
