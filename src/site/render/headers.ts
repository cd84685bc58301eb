import { SECURITY } from "../../api/openapi-parts.ts";
import { OPERATIONS, type Parameter } from "./contract.ts";
import { type Document, slugOf } from "./document.ts";
import { exampleOfParameter, sentence } from "./fields.ts";
import { type Html, html } from "../../schema/html.ts";
import { inline } from "./markdown.ts";
import { fieldList, heading } from "./parts.ts";

export function headerPage(): Document {
  const parameters = OPERATIONS.flatMap((operation) => operation.parameters.filter((each) => each.in === "header"));
  const inRequests = described(parameters);
  const inResponses = described(OPERATIONS.flatMap(({ responses }) => responses.flatMap(({ headers }) => headers)));
  const names = [...new Set([...inRequests, ...inResponses].map(({ name }) => name))];
  const sorted = names.toSorted((a, b) => a.localeCompare(b));
  const key = (name: string, { description }: { description: string }) => ({
    term: html`<code>${name}</code>`,
    text: html`<p>${inline(sentence(description))}</p>`,
  });
  return {
    slug: "headers",
    title: "Headers",
    lead: "Every header that the service understands or sends.",
    body: html`<h2 id="security">Your key</h2>
      <p>Every request but those for the contract and these pages has your API key, in one of two headers.</p>
      ${fieldList([key("Authorization", SECURITY.bearer), key("X-API-Key", SECURITY.apiKey)])}
      ${sorted.map(
        (name) =>
          html`<section>
            ${heading(2, slugOf(name), html`<code>${name}</code>`, name)} ${texts("In a request", name, inRequests)}
            ${texts("In a response", name, inResponses)}
          </section>`,
      )}`,
    headings: sorted.map((name) => ({ id: slugOf(name), text: name, level: 2 })),
  };
}

function texts(where: string, name: string, parameters: readonly Parameter[]): Html[] {
  const named = parameters.filter((parameter) => parameter.name === name);
  return named.map(
    (parameter) =>
      html`<p><strong>${where}.</strong> ${inline(sentence(parameter.description))}</p>
        <p class="bounds">Example: <code>${exampleOfParameter(parameter)}</code></p>`,
  );
}

/** Returns each header once for each way in which it is described. */
function described(parameters: readonly Parameter[]): Parameter[] {
  const byText = new Map(parameters.map((parameter) => [`${parameter.name}: ${parameter.description}`, parameter]));
  return [...byText.values()];
}
