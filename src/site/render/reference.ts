import { limitsOf } from "../../limiter/surfaces.ts";
import { type Answer, CONTRACT, type Listed, OPERATIONS, type Parameter, resolved } from "./contract.ts";
import type { Document } from "./document.ts";
import { curlOf, exampleOfMedia } from "./example.ts";
import { describe, fieldList, sentence, typeText } from "./fields.ts";
import { type Html, html } from "../../infra/html.ts";
import { codeBlock, inline } from "./markdown.ts";
import { headerPath, tagSlug } from "./names.ts";
import { table } from "./table.ts";

export function operationPages(): Document[] {
  return [...new Set(OPERATIONS.map(({ tag }) => tag))].map((tag) => {
    const operations = OPERATIONS.filter((operation) => operation.tag === tag);
    const described = CONTRACT.tags?.find(({ name }) => name === tag)?.description;
    return {
      slug: tagSlug(tag),
      title: tag,
      lead: described ?? `The operations on ${tag}.`,
      body: html`${operations.map(operationSection)}`,
      headings: operations.map(({ operationId, summary }) => ({ id: operationId, text: summary, level: 2 })),
    };
  });
}

export function endpointLine({ method, path }: Listed): Html {
  return html`<span class="method ${method.toLowerCase()}">${method}</span> <code>${path}</code>`;
}

export function chargeText({ surface, security }: Listed): string {
  if (security?.length === 0) return "Needs no key. Charges nothing.";
  if (surface === "free") return "Charges nothing.";
  const { account, key } = limitsOf(surface, 1);
  return `The limit of ${surface}: ${key} requests an hour for each key, ${account} for the account.`;
}

function operationSection(operation: Listed): Html {
  const { operationId, summary, description = "", parameters = [], responses, codes } = operation;
  return html`<section class="operation">
    <h2 id="${operationId}">
      ${summary} <a class="anchor" href="#${operationId}" aria-label="Link to ${summary}">#</a>
    </h2>
    <p class="endpoint">${endpointLine(operation)}</p>
    <p>${inline(description)}</p>
    <p class="charge">${chargeText(operation)}</p>
    ${parameterTable(parameters.map(resolved))} ${requestBody(operation)} ${codeBlock(curlOf(operation), "sh")}
    <h3 id="${operationId}-answers">Answers</h3>
    ${answerTable(responses)} ${answerExample(responses)}
    ${
      codes.length > 0 &&
      html`<h3 id="${operationId}-problems">Problems</h3>
        <p class="codes">${codes.map((code) => html`<a href="/docs#${code}"><code>${code}</code></a> `)}</p>`
    }
  </section>`;
}

function parameterTable(parameters: readonly Parameter[]): Html {
  if (parameters.length === 0) return html``;
  return html`<h3>Parameters</h3>
    <dl class="fields">
      ${parameters.map(
        (parameter) =>
          html`<div>
            <dt>
              ${
                parameter.in === "header"
                  ? html`<a href="${headerPath(parameter.name ?? "")}"><code>${parameter.name}</code></a>`
                  : html`<code>${parameter.name}</code>`
              }
              <span class="type"
                >${parameter.in === "header" ? "header" : html`${typeText(parameter.schema ?? {})}, ${parameter.in}`}</span
              >${parameter.required && html` <span class="required">required</span>`}
            </dt>
            <dd>
              ${parameter.description !== undefined && html`<p>${inline(sentence(parameter.description))}</p>`}
              ${describe({ ...parameter.schema, ...(parameter.example === undefined ? {} : { example: parameter.example }) })}
            </dd>
          </div>`,
      )}
    </dl>`;
}

function requestBody({ requestBody: given, operationId }: Listed): Html {
  if (given === undefined) return html``;
  const { required = false, content, description } = resolved(given);
  const types = Object.entries(content);
  const [, first] = types[0] ?? [];
  const fields = first?.schema === undefined ? undefined : resolved(first.schema);
  return html`<h3 id="${operationId}-body">Body</h3>
    <p>
      ${description !== undefined && html`${inline(description)} `}${required ? "Required" : "Optional"}, as
      ${types.map(([type, { schema }], index) => html`${index > 0 && " or "}<code>${type}</code>${schema?.$ref !== undefined && html` (${typeText(schema)})`}`)}.
    </p>
    ${fields?.properties !== undefined && fieldList(fields)}`;
}

function answerTable(responses: Readonly<Record<string, Answer>>): Html {
  const successes = Object.entries(responses).filter(([status]) => /^[123]/.test(status));
  const rows = successes.map(([status, answer]) => {
    const { description = "", content = {}, headers = {} } = resolved(answer);
    return [
      status,
      inline(description),
      html`${Object.entries(content).map(([type, { schema }]) => html`<div>${schema !== undefined && schema.format !== "binary" ? typeText(schema) : html`<code>${type}</code>`}</div>`)}`,
      html`${Object.keys(headers).map((name, index) => html`${index > 0 && ", "}<a href="${headerPath(name)}">${name}</a>`)}`,
    ];
  });
  return table("Answers", ["Status", "When", "Body", "Headers"], rows);
}

function answerExample(responses: Readonly<Record<string, Answer>>): Html {
  const found = Object.entries(responses).find(([status]) => /^20[01]/.test(status));
  const media = found?.[1].content?.["application/json"];
  const example = media === undefined ? undefined : exampleOfMedia(media);
  if (found === undefined || example === undefined) return html``;
  return html`<details>
    <summary>Example of the answer ${found[0]}</summary>
    ${codeBlock(JSON.stringify(example, null, 2), "json")}
  </details>`;
}

export function schemaPage(): Document {
  const schemas = Object.entries(CONTRACT.components.schemas).toSorted(([a], [b]) => a.localeCompare(b));
  return {
    slug: "schemas",
    title: "Schemas",
    lead: "Every object that the service takes or answers, field by field.",
    body: html`${schemas.map(([name, schema]) => {
      const id = name.toLowerCase();
      const choices = schema.oneOf ?? schema.anyOf;
      return html`<section>
        <h2 id="${id}">${name} <a class="anchor" href="#${id}" aria-label="Link to ${name}">#</a></h2>
        ${schema.description !== undefined && html`<p>${inline(sentence(schema.description))}</p>`}
        ${choices !== undefined && html`<p>One of: ${typeText(schema)}.</p>`}
        ${schema.enum !== undefined && describe({ enum: schema.enum })}
        ${schema.properties !== undefined && fieldList(schema, id)}
      </section>`;
    })}`,
    headings: schemas.map(([name]) => ({ id: name.toLowerCase(), text: name, level: 2 })),
  };
}
