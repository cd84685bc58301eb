import { type Document, pathOf, type Section } from "./document.ts";
import { type Html, html } from "../../schema/html.ts";

const NAME = "Candidate Onboarding";

type Head = Pick<Document, "title" | "lead" | "styles" | "scripts">;

/** @param current the entry of the header that this page belongs to. Pages of `docs` also have the navigation and the search. */
function shell({ title, lead, styles = [], scripts = [] }: Head, current: "docs" | "console", body: Html): string {
  const top = (name: typeof current, text: string) =>
    html`<a href="/${name}" ${name === current && html`aria-current="true"`}>${text}</a>`;
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <title>${title}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="description" content="${lead}" />
        <meta name="color-scheme" content="light dark" />
        <link rel="icon" href="/docs/assets/icon.svg" type="image/svg+xml" />
        ${["site.css", ...styles].map((name) => html`<link rel="stylesheet" href="/docs/assets/${name}" /> `)}
        ${scripts.map((name) => html`<script type="module" src="/docs/assets/${name}"></script> `)}
      </head>
      <body>
        <a class="skip" href="#content">Skip to the content</a>
        <header class="top">
          ${current === "docs" && html`<button type="button" class="menu" popovertarget="pages">Menu</button>`}
          <a class="brand" href="/docs">${NAME}</a>
          <nav aria-label="Site">${top("docs", "Docs")}${top("console", "Console")}</nav>
          ${
            current === "docs" &&
            html`<button type="button" class="search-open" id="search-open" hidden>
              Search <kbd aria-hidden="true">/</kbd>
            </button>`
          }
        </header>
        ${body}
      </body>
    </html> `;
  return page.text;
}

export function documentPage(document: Document, sections: readonly Section[]): string {
  const { slug, title, lead, body, headings = [], scripts = [], wide } = document;
  const contents = headings.filter(({ level }) => level === 2 || (level === 3 && headings.length < 40));
  const name = slug === "" ? `${NAME}: documentation` : `${title} · ${NAME}`;
  return shell(
    { ...document, title: name, scripts: ["docs.js", ...scripts] },
    "docs",
    html`<div class="frame${wide && " wide"}">
      <nav class="pages" id="pages" popover aria-label="Documentation">
        ${sections.map(
          (section) =>
            html`<p class="nav-title">${section.title}</p>
              <ul>
                ${section.documents.map(
                  (entry) =>
                    html`<li>
                      <a href="${pathOf(entry.slug)}" ${entry.slug === slug && html`aria-current="page"`}
                        >${entry.title}</a
                      >
                    </li>`,
                )}
              </ul> `,
        )}
      </nav>
      <main id="content" tabindex="-1">
        <h1>${title}</h1>
        <p class="lead">${lead}</p>
        ${body}
      </main>
      ${
        !wide &&
        contents.length > 1 &&
        html`<nav class="on-page" aria-label="On this page">
          <p class="nav-title">On this page</p>
          <ul>
            ${contents.map(({ id, text, level }) => html`<li class="level-${level}"><a href="#${id}">${text}</a></li>`)}
          </ul>
        </nav>`
      }
    </div>`,
  );
}

/** Returns the page /console. Its script fills the element with the id `console`. */
export function consolePage(): string {
  const lead = "The limits, grants and candidates of your account.";
  return shell(
    { title: `Console · ${NAME}`, lead, styles: ["console.css"], scripts: ["console.js"] },
    "console",
    html`<main id="content" tabindex="-1" class="console">
      <div id="console">
        <noscript
          ><h1>Console</h1>
          <p>The console needs JavaScript.</p></noscript
        >
      </div>
    </main>`,
  );
}
