import { limitsOf } from "../../limiter/surfaces.ts";
import { CONTRACT, type Listed, OPERATIONS, type Parameter, resolved, type ResponseOf, TAGS } from "./contract.ts";
import type { Document } from "./document.ts";
import { curlOf, exampleOfMedia } from "./example.ts";
import { describe, fieldList, sentence, typeText } from "./fields.ts";
import { type Html, html } from "../../schema/html.ts";
import { codeBlock, inline, jsonExample } from "./markdown.ts";
import { headerPath, operationPath, tagSlug } from "./names.ts";
import { heading, table } from "./parts.ts";

/** Returns the first page of the reference: every operation in one table for each tag. */
export function overviewPage(): Document {
  return {
    slug: "reference",
    title: "Reference",
    lead: "Every operation, with the limit that it is charged to.",
    body: html`<p>
        The reference is made from the contract that <a href="/openapi.json"><code>GET /openapi.json</code></a> returns.
        Paths carry no version. <a href="/docs/try">Try it out</a> sends real requests with your key.
      </p>
      ${TAGS.map(
        (tag) =>
          html`<h2 id="${tag.toLowerCase()}"><a href="/docs/${tagSlug(tag)}">${tag}</a></h2>
            ${table(tag, ["Operation", "What it does", "Surface"], OPERATIONS.filter((operation) => operation.tag === tag).map(rowOf))}`,
      )}`,
    headings: TAGS.map((tag) => ({ id: tag.toLowerCase(), text: tag, level: 2 })),
  };
}

function rowOf(operation: Listed): (Html | string)[] {
  const link = html`<a class="endpoint" href="${operationPath(operation)}">${endpointLine(operation)}</a>`;
  return [link, operation.summary, operation.surface];
}

export function operationPages(): Document[] {
  return TAGS.map((tag) => {
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

function endpointLine({ method, path }: Listed): Html {
  return html`<span class="method ${method.toLowerCase()}">${method}</span> <code>${path}</code>`;
}

function chargeText({ surface, security }: Listed): string {
  if (security?.length === 0) return "Needs no key. Charges nothing.";
  if (surface === "free") return "Charges nothing.";
  const { account, key } = limitsOf(surface, 1);
  return `The limit of ${surface}: ${key} requests an hour for each key, ${account} for the account.`;
}

function operationSection(operation: Listed): Html {
  const { operationId, summary, description = "", parameters = [], responses, codes } = operation;
  return html`<section class="operation">
    ${heading(2, operationId, summary, summary)}
    <p class="endpoint">${endpointLine(operation)}</p>
    <p>${inline(description)}</p>
    <p class="charge">${chargeText(operation)}</p>
    ${parameterTable(parameters.map(resolved))} ${requestBody(operation)} ${codeBlock(curlOf(operation), "sh")}
    <h3 id="${operationId}-responses">Responses</h3>
    ${responseTable(responses)} ${responseExample(responses)}
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

function responseTable(responses: Readonly<Record<string, ResponseOf>>): Html {
  const successes = Object.entries(responses).filter(([status]) => /^[123]/.test(status));
  const rows = successes.map(([status, response]) => {
    const { description = "", content = {}, headers = {} } = resolved(response);
    return [
      status,
      inline(description),
      html`${Object.entries(content).map(([type, { schema }]) => html`<div>${schema !== undefined && schema.format !== "binary" ? typeText(schema) : html`<code>${type}</code>`}</div>`)}`,
      html`${Object.keys(headers).map((name, index) => html`${index > 0 && ", "}<a href="${headerPath(name)}">${name}</a>`)}`,
    ];
  });
  return table("Responses", ["Status", "When", "Body", "Headers"], rows);
}

function responseExample(responses: Readonly<Record<string, ResponseOf>>): Html {
  const [status, response] = Object.entries(responses).find(([status]) => /^20[01]/.test(status)) ?? [];
  const media = response?.content?.["application/json"];
  return media === undefined ? html`` : jsonExample(`Example of the response ${status}`, exampleOfMedia(media));
}

export function schemaPage(): Document {
  const schemas = Object.entries(CONTRACT.components.schemas).toSorted(([a], [b]) => a.localeCompare(b));
  return {
    slug: "schemas",
    title: "Schemas",
    lead: "Every object that the service takes or returns, field by field.",
    body: html`${schemas.map(([name, schema]) => {
      const id = name.toLowerCase();
      const choices = schema.oneOf ?? schema.anyOf;
      return html`<section>
        ${heading(2, id, name, name)}
        ${schema.description !== undefined && html`<p>${inline(sentence(schema.description))}</p>`}
        ${choices !== undefined && html`<p>One of: ${typeText(schema)}.</p>`}
        ${schema.enum !== undefined && describe({ enum: schema.enum })}
        ${schema.properties !== undefined && fieldList(schema, id)}
      </section>`;
    })}`,
    headings: schemas.map(([name]) => ({ id: name.toLowerCase(), text: name, level: 2 })),
  };
}
