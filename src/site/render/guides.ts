import { readdirSync, readFileSync } from "node:fs";
import { extname } from "node:path";
import { statesDiagram } from "./diagram.ts";
import type { Document } from "./document.ts";
import { type Html, html } from "../../schema/html.ts";
import { codeBlock, fromMarkdown } from "./markdown.ts";
import { problemTable } from "./problems.ts";

/** The guides in the order in which a newcomer needs them. */
const GUIDES = (
  "quick-start mirroring nudges pushing limits idempotency documents references reminders states backfills errors clients " +
  "tools history"
).split(" ");

/** The field for the key, which browser/quick-start.ts fills, and what a shell needs instead. */
const KEY_FIELD = html`<div id="key-field"></div>
  <p>In a shell, set two variables instead. Every example uses them.</p>
  ${codeBlock("BASE=http://localhost:8080\nKEY=cos_live_…", "text")}`;

export function guides(): Document[] {
  return GUIDES.map((slug) => {
    const runnable = slug === "quick-start";
    const text = source(`docs/guides/${slug}.md`).replace("<!-- changelog -->", () => {
      return source("../CHANGELOG.md").replace(/^.*?\n(?=## )/s, "");
    });
    const examples = { "receiver.ts": example("receiver.ts"), "receiver.py": example("receiver.py") };
    const inserts = { key: KEY_FIELD, problems: problemTable(), "diagram: states": statesDiagram(), ...examples };
    const page = fromMarkdown(slug, text, { runnable, inserts });
    return runnable ? { ...page, scripts: ["quick-start.js"] } : page;
  });
}

function example(name: string): Html {
  return codeBlock(source(`docs/examples/${name}`), extname(name).slice(1));
}

function source(path: string): string {
  return readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
}

/** Returns the page of the typed client and the page of the examples. */
export function clientPages(): Document[] {
  const names = readdirSync(new URL("../../docs/examples/", import.meta.url)).filter((name) => extname(name) !== "");
  const examples = {
    slug: "examples",
    title: "Examples to copy",
    lead: "Programs that mirror a pipeline. Each of them runs in our tests.",
    body: html`${names.map(
      (name) =>
        html`<h2 id="${name}">${name}</h2>
          ${example(name)}`,
    )}`,
    headings: names.map((name) => ({ id: name, text: name, level: 2 })),
  };
  return [fromMarkdown("client", source("client/README.md")), examples];
}
