import { TAGS } from "../../api/openapi-parts.ts";
import { limitsOf } from "../../limiter/surfaces.ts";
import { type Operation, OPERATIONS, type Parameter, resolved, SCHEMAS, TAGS_IN_ORDER } from "./contract.ts";
import { type Document, headerPath, operationPath, tagSlug } from "./document.ts";
import { describe, exampleOf, exampleOfParameter, fieldTerm, memberList, sentence, typeText } from "./fields.ts";
import { type Html, html } from "../../schema/html.ts";
import { codeBlock, inline, jsonExample } from "./markdown.ts";
import { caution, type Field, fieldList, heading, joined, table } from "./parts.ts";

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
      ${TAGS_IN_ORDER.map(
        (tag) =>
          html`<h2 id="${tag.toLowerCase()}"><a href="/docs/${tagSlug(tag)}">${tag}</a></h2>
            ${table(tag, ["Operation", "What it does", "Surface"], operationsOf(tag).map(rowOf))}`,
      )}`,
    headings: TAGS_IN_ORDER.map((tag) => ({ id: tag.toLowerCase(), text: tag, level: 2 })),
  };
}

function operationsOf(tag: string): Operation[] {
  return OPERATIONS.filter((operation) => operation.tag === tag);
}

function rowOf(operation: Operation): (Html | string)[] {
  const link = html`<a class="endpoint" href="${operationPath(operation)}">${endpointLine(operation)}</a>`;
  return [link, operation.summary, operation.surface];
}

export function operationPages(): Document[] {
  return TAGS_IN_ORDER.map((tag) => ({
    slug: tagSlug(tag),
    title: tag,
    lead: TAGS[tag],
    body: html`${operationsOf(tag).map(operationSection)}`,
    headings: operationsOf(tag).map(({ operationId, summary }) => ({ id: operationId, text: summary, level: 2 })),
  }));
}

function endpointLine({ method, path }: Operation): Html {
  return html`<span class="method ${method.toLowerCase()}">${method}</span> <code>${path}</code>`;
}

function chargeText({ surface, security }: Operation): string {
  if (security?.length === 0) return "Needs no key. Charges nothing.";
  if (surface === "free") return "Charges nothing.";
  const { account, key } = limitsOf(surface, 1);
  return `The limit of ${surface}: ${key} requests an hour for each key, ${account} for the account.`;
}

function operationSection(operation: Operation): Html {
  const { operationId, summary, parameters, codes } = operation;
  const [description = "", warning, rest = ""] = operation.description.split("**");
  return html`<section class="operation">
    ${heading(2, operationId, summary, summary)}
    <p class="endpoint">${endpointLine(operation)}</p>
    <p>${inline(description + rest.trimStart())}</p>
    ${warning !== undefined && caution(html`<p>${inline(warning)}</p>`)}
    <p class="charge">${chargeText(operation)}</p>
    <h3>Parameters</h3>
    ${fieldList(parameters.map(parameterField))} ${requestBody(operation)} ${codeBlock(curlOf(operation), "sh")}
    <h3 id="${operationId}-responses">Responses</h3>
    ${responseTable(operation)} ${responseExample(operation)}
    <h3 id="${operationId}-problems">Problems</h3>
    <p class="codes">${codes.map((code) => html`<a href="/docs#${code}"><code>${code}</code></a> `)}</p>
  </section>`;
}

function parameterField({ name, in: place, required = false, description, schema, example }: Parameter): Field {
  const code = html`<code>${name}</code>`;
  const text = html`<p>${inline(sentence(description))}</p>
    ${describe(example === undefined ? schema : { ...schema, examples: [example] })}`;
  if (place !== "header") return { term: fieldTerm(code, html`${typeText(schema)}, ${place}`, required), text };
  return { term: fieldTerm(html`<a href="${headerPath(name)}">${code}</a>`, html`header`, required), text };
}

function requestBody({ requestBody: body, operationId }: Operation): Html | undefined {
  if (body === undefined) return undefined;
  const types = Object.entries(body.content);
  const fields = types[0] && resolved(types[0][1].schema);
  const names = types.map(
    ([type, { schema }]) => html`<code>${type}</code>${schema.$ref !== undefined && html` (${typeText(schema)})`}`,
  );
  return html`<h3 id="${operationId}-body">Body</h3>
    <p>${inline(body.description)} ${body.required ? "Required" : "Optional"}, as ${joined(names, " or ")}.</p>
    ${fields?.properties !== undefined && memberList(fields)}`;
}

/** Returns the operation as a command for a shell that has BASE and KEY. */
function curlOf({ method, path, parameters, requestBody, security }: Operation): string {
  const inPath = parameters.filter((parameter) => parameter.in === "path");
  const url = inPath.reduce((text, each) => text.replace(`{${each.name}}`, exampleOfParameter(each)), path);
  const lines = [`curl -sS ${method === "GET" ? "" : `-X ${method} `}"$BASE${url}"`];
  if (security?.length !== 0) lines.push('-H "Authorization: Bearer $KEY"');
  if (method === "POST") lines.push('-H "Idempotency-Key: import-row-4711"');
  const [type = "", media] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  if (media !== undefined && type.includes("json")) {
    lines.push(`-H "Content-Type: ${type}"`);
    lines.push(`-d '${JSON.stringify(exampleOf(media.schema), null, 2).replaceAll("'", "'\\''")}'`);
  } else if (media !== undefined) lines.push('-H "Content-Type: application/pdf"', "--data-binary @passport.pdf");
  return lines.join(" \\\n  ");
}

function responseTable({ responses }: Operation): Html {
  const rows = responses
    .filter(({ status }) => /^[123]/.test(status))
    .map(({ status, description, content, headers }) => [
      status,
      inline(description),
      html`${Object.entries(content).map(([type, { schema }]) => html`<div>${schema.format === "binary" ? html`<code>${type}</code>` : typeText(schema)}</div>`)}`,
      joined(headers.map(({ name }) => html`<a href="${headerPath(name)}">${name}</a>`)),
    ]);
  return table("Responses", ["Status", "When", "Body", "Headers"], rows);
}

function responseExample({ responses }: Operation): Html | undefined {
  const found = responses.find(({ status }) => /^20[01]/.test(status));
  const media = found?.content["application/json"];
  return media && jsonExample(`Example of the response ${found?.status}`, exampleOf(media.schema));
}

export function schemaPage(): Document {
  const schemas = Object.entries(SCHEMAS).toSorted(([a], [b]) => a.localeCompare(b));
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
        ${schema.properties !== undefined && memberList(schema, id)}
      </section>`;
    })}`,
    headings: schemas.map(([name]) => ({ id: name.toLowerCase(), text: name, level: 2 })),
  };
}
