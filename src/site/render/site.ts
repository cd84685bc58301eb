import { NOT_FOUND } from "../pages.ts";
import { assets } from "./assets.ts";
import { type Document, pathOf, type Rendered, type Section } from "./document.ts";
import { frontPage } from "./front.ts";
import { clientPages, guides } from "./guides.ts";
import { headerPage } from "./headers.ts";
import { html } from "../../schema/html.ts";
import { consolePage, documentPage } from "./layout.ts";
import { operationPages, overviewPage, schemaPage } from "./reference.ts";
import { searchIndex } from "./search-index.ts";

export async function site(): Promise<Rendered[]> {
  const sections: Section[] = [
    { title: "Guides", documents: guides() },
    { title: "Clients", documents: clientPages() },
    { title: "Reference", documents: [overviewPage(), tryPage(), ...operationPages(), schemaPage(), headerPage()] },
  ].filter(({ documents }) => documents.length > 0);
  const pages = [frontPage(sections), ...sections.flatMap(({ documents }) => documents)];
  return [
    ...pages.map((page) => htmlPage(pathOf(page.slug), documentPage(page, sections))),
    htmlPage("/console", consolePage()),
    htmlPage(NOT_FOUND, documentPage(missing(), sections)),
    searchIndex(pages),
    ...(await assets()),
  ];
}

function htmlPage(path: string, body: string): Rendered {
  return { path, type: "text/html; charset=utf-8", body };
}

function missing(): Document {
  const lead = "No page has this address. Use the list of pages, or the search.";
  return { slug: "not-found", title: "Page not found", lead, body: html``, headings: [] };
}

function tryPage(): Document {
  return {
    slug: "try",
    title: "Try it out",
    lead: "Send real requests to this service with your key. Each of them is charged like any other.",
    body: html`<div id="swagger">
      <noscript><p>Trying it out needs JavaScript. The reference does not.</p></noscript>
    </div>`,
    headings: [],
    scripts: ["try.js"],
    styles: ["try.css"],
    wide: true,
  };
}
