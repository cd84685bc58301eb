/**
 * Renders /docs and /console to the file that its argument names, or to standard output. `npm run build` runs it; a service
 * that is not compiled runs it at the first request for a page.
 */
import { writeFile } from "node:fs/promises";
import { promisify } from "node:util";
import { serialize } from "node:v8";
import { brotliCompress, constants, gzip } from "node:zlib";
import { entityTag } from "../../http/entity-tags.ts";
import { html } from "../../schema/html.ts";
import { NOT_FOUND, type Page, type Pages } from "../pages.ts";
import { assets } from "./assets.ts";
import { clientPackage } from "./client-package.ts";
import { type Document, pathOf, type Rendered, type Section } from "./document.ts";
import { frontPage } from "./front.ts";
import { clientPages, guides } from "./guides.ts";
import { headerPage } from "./headers.ts";
import { consolePage, documentPage } from "./layout.ts";
import { operationPages, overviewPage, schemaPage } from "./reference.ts";
import { searchIndex } from "./search-index.ts";

const TRY_PAGE: Document = {
  slug: "try",
  title: "Try it out",
  lead: "Send real requests to this service with your key. Each of them is charged like any other.",
  body: html`<div id="swagger">
    <noscript><p>Trying it out needs JavaScript. The reference does not.</p></noscript>
  </div>`,
  scripts: ["try.js"],
  styles: ["try.css"],
  wide: true,
};

const MISSING: Document = {
  slug: "not-found",
  title: "Page not found",
  lead: "No page has this address. Use the list of pages, or the search.",
  body: html``,
};

async function site(): Promise<Rendered[]> {
  const sections: Section[] = [
    { title: "Guides", documents: guides() },
    { title: "Clients", documents: clientPages() },
    { title: "Reference", documents: [overviewPage(), TRY_PAGE, ...operationPages(), schemaPage(), headerPage()] },
  ];
  const documents = [frontPage(sections), ...sections.flatMap((section) => section.documents)];
  const page = (path: string, body: string) => ({ path, type: "text/html; charset=utf-8", body });
  return [
    ...documents.map((document) => page(pathOf(document.slug), documentPage(document, sections))),
    page("/console", consolePage()),
    page(NOT_FOUND, documentPage(MISSING, sections)),
    searchIndex(documents),
    ...(await assets()),
    await clientPackage(),
  ];
}

/** Quality 11 saves another 5 % and takes ten times as long. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

async function compressed({ path, type, body }: Rendered): Promise<[path: string, page: Page]> {
  const identity = Buffer.from(body);
  const tag = entityTag(identity);
  if (type === "application/gzip") return [path, { type, tag, bodies: { identity } }];
  const br = await promisify(brotliCompress)(identity, BROTLI);
  const bodies = { br, gzip: await promisify(gzip)(identity, { level: 9 }), identity };
  return [path, { type, tag, bodies }];
}

const rendered: Pages = new Map(await Promise.all((await site()).map(compressed)));
const [file] = process.argv.slice(2);
if (file === undefined) process.stdout.write(serialize(rendered));
else await writeFile(file, serialize(rendered));
