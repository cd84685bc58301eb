import { type Document, pathOf, type Section } from "./document.ts";
import { html } from "../../schema/html.ts";
import { PROBLEM_HEADINGS, problemList } from "./problems.ts";

/** Returns /docs: where to begin, and every problem under its code. The `type` of a problem leads to its code here. */
export function frontPage(sections: readonly Section[]): Document {
  return {
    slug: "",
    title: "Documentation",
    lead: "Mirror your hiring pipeline over HTTP: candidates, their documents and references, and a list of every change.",
    body: html`<p class="actions">
        <a class="button primary" href="/docs/quick-start">Quick start</a>
        <a class="button" href="/docs/reference">Reference</a> <a class="button" href="/console">Console</a>
      </p>
      ${sections.map(
        ({ title, documents }) =>
          html`<section>
            <h2 id="${title.toLowerCase()}">${title}</h2>
            <ul class="cards">
              ${documents.map(
                ({ slug, title: name, lead }) =>
                  html`<li><a href="${pathOf(slug)}">${name}</a><span>${lead}</span></li>`,
              )}
            </ul>
          </section>`,
      )}
      <h2 id="problems">Problems by code</h2>
      <p>
        A refusal is a problem (RFC 9457): JSON with <code>type</code>, <code>title</code>, <code>status</code>,
        <code>detail</code>, <code>code</code> and <code>request_id</code>. Programs read <code>code</code>; people read
        <code>detail</code>.
      </p>
      ${problemList()}`,
    headings: [
      ...sections.map(({ title }) => ({ id: title.toLowerCase(), text: title, level: 2 })),
      { id: "problems", text: "Problems by code", level: 2 },
      ...PROBLEM_HEADINGS,
    ],
  };
}
