import { OPERATIONS } from "./contract.ts";
import type { Document } from "./document.ts";
import { html } from "../../infra/html.ts";
import { operationPath, tagSlug } from "./names.ts";
import { endpointLine } from "./reference.ts";

/** Returns the first page of the reference: every operation in one table for each tag. */
export function overviewPage(): Document {
  const tags = [...new Set(OPERATIONS.map(({ tag }) => tag))];
  const titleOf = (tag: string) => tag.charAt(0).toUpperCase() + tag.slice(1);
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
          html`<h2 id="${tag.toLowerCase()}"><a href="/docs/${tagSlug(tag)}">${titleOf(tag)}</a></h2>
            <div class="table" role="region" aria-label="${titleOf(tag)}" tabindex="0">
              <table>
                <thead>
                  <tr>
                    <th scope="col">Operation</th>
                    <th scope="col">What it does</th>
                    <th scope="col">Surface</th>
                  </tr>
                </thead>
                <tbody>
                  ${OPERATIONS.filter((operation) => operation.tag === tag).map(
                    (operation) =>
                      html`<tr>
                        <td class="endpoint"><a href="${operationPath(operation)}">${endpointLine(operation)}</a></td>
                        <td>${operation.summary}</td>
                        <td>${operation.surface}</td>
                      </tr>`,
                  )}
                </tbody>
              </table>
            </div>`,
      )}`,
    headings: tags.map((tag) => ({ id: tag.toLowerCase(), text: titleOf(tag), level: 2 })),
  };
}
