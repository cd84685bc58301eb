import { existsSync, readdirSync, readFileSync } from "node:fs";
import { statesDiagram } from "./diagram.ts";
import type { Document } from "./document.ts";
import { type Html, html } from "../../schema/html.ts";
import { codeBlock, fromMarkdown } from "./markdown.ts";
import { problemTable } from "./problems.ts";

const SOURCES = new URL("../../", import.meta.url);
const GUIDES = new URL("docs/guides/", SOURCES);
const EXAMPLES = new URL("docs/examples/", SOURCES);

/** The guides in the order in which a newcomer needs them. Others follow, by name. */
const ORDER = "quick-start mirroring limits idempotency documents references reminders states backfills errors".split(
  " ",
);
const LAST = ["history"];

/** The field for the key, which browser/quick-start.ts fills, and what a shell needs instead. */
const KEY_FIELD = html`<div id="key-field"></div>
  <p>In a shell, set two variables instead. Every example uses them.</p>
  ${codeBlock("BASE=http://localhost:8080\nKEY=cos_live_…", "text")}`;

export function guides(): Document[] {
  const slugs = readdirSync(GUIDES)
    .filter((name) => name.endsWith(".md"))
    .map((name) => name.replace(/\.md$/, ""));
  const place = (slug: string) =>
    LAST.includes(slug) ? ORDER.length + 1 : ORDER.includes(slug) ? ORDER.indexOf(slug) : ORDER.length;
  return slugs.toSorted((a, b) => place(a) - place(b) || a.localeCompare(b)).map(guide);
}

function guide(slug: string): Document {
  const runnable = slug === "quick-start";
  const text = readFileSync(new URL(`${slug}.md`, GUIDES), "utf8").replace("<!-- changelog -->", () => changes());
  const inserts = { key: KEY_FIELD, problems: problemTable(), "diagram: states": statesDiagram() };
  const page = fromMarkdown(slug, text, { runnable, inserts });
  return runnable ? { ...page, scripts: ["quick-start.js"] } : page;
}

function changes(): string {
  const text = readFileSync(new URL("../CHANGELOG.md", SOURCES), "utf8");
  return text.slice(text.indexOf("\n## ") + 1);
}

/** Returns the page of the typed client and the page of the examples, as far as these exist. */
export function clientPages(): Document[] {
  const readme = new URL("client/README.md", SOURCES);
  const client = existsSync(readme) ? [fromMarkdown("client", readFileSync(readme, "utf8"))] : [];
  return [...client, ...(existsSync(EXAMPLES) ? [examples()] : [])];
}

const LANGUAGES: Record<string, string> = { ts: "typescript", py: "python", yaml: "yaml", json: "json" };

function examples(): Document {
  const files = readdirSync(EXAMPLES).filter((name) => LANGUAGES[extensionOf(name)] !== undefined);
  const section = (name: string): Html => {
    const text = readFileSync(new URL(name, EXAMPLES), "utf8");
    return html`<h2 id="${name}">${name}</h2>
      ${codeBlock(text, LANGUAGES[extensionOf(name)] ?? "text")}`;
  };
  return {
    slug: "examples",
    title: "Examples to copy",
    lead: "Programs that mirror a pipeline. Each of them runs in our tests.",
    body: html`${files.map(section)}`,
    headings: files.map((name) => ({ id: name, text: name, level: 2 })),
  };
}

function extensionOf(name: string): string {
  return name.split(".").at(-1) ?? "";
}
