import { CONTRACT, OPERATIONS, type Parameter, resolved } from "./contract.ts";
import type { Document } from "./document.ts";
import { exampleOfParameter } from "./example.ts";
import { sentence } from "./fields.ts";
import { type Html, html } from "../../schema/html.ts";
import { inline } from "./markdown.ts";
import { slugOf } from "./names.ts";
import { heading } from "./parts.ts";

interface Header {
  readonly request: Parameter[];
  readonly response: Parameter[];
}

export function headerPage(): Document {
  const headers = [...collect()].toSorted(([a], [b]) => a.localeCompare(b));
  return {
    slug: "headers",
    title: "Headers",
    lead: "Every header that the service understands or sends.",
    body: html`<h2 id="security">Your key</h2>
      <p>Every request but those for the contract and these pages has your API key, in one of two headers.</p>
      <dl class="fields">
        ${Object.entries(CONTRACT.components.securitySchemes).map(
          ([name, { description = name }]) =>
            html`<div>
              <dt><code>${name === "bearer" ? "Authorization" : "X-API-Key"}</code></dt>
              <dd><p>${inline(sentence(description))}</p></dd>
            </div>`,
        )}
      </dl>
      ${headers.map(
        ([name, { request, response }]) =>
          html`<section>
            ${heading(2, slugOf(name), html`<code>${name}</code>`, name)} ${texts("In a request", request)}
            ${texts("In a response", response)}
          </section>`,
      )}`,
    headings: headers.map(([name]) => ({ id: slugOf(name), text: name, level: 2 })),
  };
}

function texts(where: string, parameters: readonly Parameter[]): Html {
  return html`${parameters.map(
    (parameter) =>
      html`<p><strong>${where}.</strong> ${inline(sentence(parameter.description ?? ""))}</p>
        <p class="bounds">Example: <code>${exampleOfParameter(parameter)}</code></p>`,
  )}`;
}

/** Collects the headers of all operations. A header that is described in several ways keeps each of them. */
function collect(): Map<string, Header> {
  const headers = new Map<string, Header>();
  const add = (name: string, kind: keyof Header, parameter: Parameter) => {
    const header = headers.get(name) ?? { request: [], response: [] };
    headers.set(name, header);
    if (!header[kind].some(({ description }) => description === parameter.description)) header[kind].push(parameter);
  };
  for (const { parameters = [], responses } of OPERATIONS) {
    for (const parameter of parameters.map(resolved))
      if (parameter.in === "header" && parameter.name !== undefined) add(parameter.name, "request", parameter);
    for (const response of Object.values(responses))
      for (const [name, header] of Object.entries(resolved(response).headers ?? {}))
        add(name, "response", { name, ...resolved(header) });
  }
  return headers;
}
