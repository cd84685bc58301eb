import { type Listed, OPERATIONS } from "./contract.ts";
import type { Document } from "./document.ts";
import { type Html, html } from "../../infra/html.ts";
import { operationPath, tagSlug } from "./names.ts";
import { endpointLine } from "./reference.ts";
import { table } from "./table.ts";

/** Returns the first page of the reference: every operation in one table for each tag. */
export function overviewPage(): Document {
  const tags = [...new Set(OPERATIONS.map(({ tag }) => tag))];
  return {
    slug: "reference",
    title: "Reference",
    lead: "Every operation, with the limit that it is charged to.",
    body: html`<p>
        The reference is made from the contract that <a href="/openapi.json"><code>GET /openapi.json</code></a> answers.
        Paths carry no version. <a href="/docs/try">Try it out</a> sends real requests with your key.
      </p>
      ${tags.map(
        (tag) =>
          html`<h2 id="${tag.toLowerCase()}"><a href="/docs/${tagSlug(tag)}">${tag}</a></h2>
            ${table(tag, ["Operation", "What it does", "Surface"], OPERATIONS.filter((operation) => operation.tag === tag).map(rowOf))}`,
      )}`,
    headings: tags.map((tag) => ({ id: tag.toLowerCase(), text: tag, level: 2 })),
  };
}

function rowOf(operation: Listed): (Html | string)[] {
  const link = html`<a class="endpoint" href="${operationPath(operation)}">${endpointLine(operation)}</a>`;
  return [link, operation.summary, operation.surface];
}
