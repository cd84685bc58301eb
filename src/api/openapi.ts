import type { TSchema } from "typebox";
import { propertiesOf } from "../schema/fields.ts";
import type { Route } from "./endpoint.ts";
import { responsesOf, bytesOf, type Components, contractResponses } from "./openapi-responses.ts";
import { COMPONENT_HEADERS, INFO, type ParameterName, PARAMETERS, SECURITY, TAGS } from "./openapi-parts.ts";
import { FAULT_SCHEMA, PROBLEM_EXAMPLES, PROBLEM_SCHEMA } from "./openapi-problems.ts";
import { type Json, publish } from "./publish.ts";

const CONTRACT_SCHEMA = { type: "object", description: "An OpenAPI 3.1 document.", additionalProperties: true };

/** Generates the OpenAPI 3.1 document from the routes. Schemas with a title become components. */
export function openApi(routes: readonly Route[]): Json {
  const schemas = { Problem: PROBLEM_SCHEMA, Fault: FAULT_SCHEMA, Contract: CONTRACT_SCHEMA };
  const components: Components = { schemas, responses: {} };
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, components) };
  }
  const readContract = {
    operationId: "readContract",
    tags: ["Contract"],
    summary: "Read this document",
    description: "The interface as an OpenAPI 3.1 document. Needs no key and charges no surface.",
    security: [],
    parameters: [parameterRef("If-None-Match"), parameterRef("X-Request-Id")],
    responses: contractResponses(components),
  };
  paths["/openapi.json"] = { get: readContract };
  return {
    openapi: "3.1.0",
    info: INFO,
    servers: [{ url: "/" }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    security: [{ bearer: [] }, { apiKey: [] }],
    paths,
    components: {
      ...components,
      headers: COMPONENT_HEADERS,
      parameters: PARAMETERS,
      examples: PROBLEM_EXAMPLES,
      securitySchemes: SECURITY,
    },
  };
}

function operationOf(route: Route, components: Components): Json {
  const { schemas } = components;
  const { name, tag, summary, description, surface, dryRun, params, query } = route;
  const charge = surface === "free" ? "Charges no surface" : `Charges the surface \`${surface}\``;
  const ofDryRun = dryRun === undefined ? "" : `; a dry run charges \`${dryRun.surface}\``;
  const body = requestBodyOf(route, schemas);
  return {
    operationId: name,
    tags: [tag],
    summary,
    description: `${description} ${charge}${ofDryRun}.`,
    parameters: [
      ...parametersOf(params, "path", schemas),
      ...parametersOf(query, "query", schemas),
      ...headerParameters(route).map(parameterRef),
    ],
    ...(body === undefined ? {} : { requestBody: body }),
    responses: responsesOf(route, components),
  };
}

/** A parameter's text is about the parameter, so it moves there from the schema. */
function parametersOf(schema: TSchema | undefined, where: "path" | "query", schemas: Record<string, Json>): Json[] {
  const { required = [] }: { required?: readonly string[] } = schema ?? {};
  return Object.entries(propertiesOf(schema)).map(([name, property]) => {
    const { description, examples, ...rest } = publish(property, "request", schemas);
    const example = Array.isArray(examples) ? { example: examples[0] as unknown } : {};
    const isRequired = required.includes(name) && !("default" in property);
    return { name, in: where, required: isRequired, description, schema: rest, ...example };
  });
}

function headerParameters(route: Route): ParameterName[] {
  const { method, problems } = route;
  const names: ParameterName[] = [];
  if (method === "GET") names.push("If-None-Match");
  if (problems.includes("version_mismatch")) names.push("If-Match");
  if (method === "POST") names.push("Idempotency-Key");
  if (problems.includes("range_not_satisfiable")) names.push("Range", "If-Range");
  if (takesRawFile(route)) names.push("Content-Disposition");
  return [...names, "X-Request-Id"];
}

function takesRawFile({ upload }: Route): boolean {
  return upload !== undefined && upload.form === undefined;
}

function parameterRef(name: ParameterName): Json {
  return { $ref: `#/components/parameters/${name}` };
}

/** JSON stands first: tools that know one media type for a body take the first. */
function requestBodyOf(route: Route, schemas: Record<string, Json>): Json | undefined {
  const { body, bodyOptional, entries, upload, method } = route;
  const required = !bodyOptional;
  if (takesRawFile(route)) return { description: "The bytes, of any media type.", required, content: bytesOf(["*/*"]) };
  if (body === undefined) return undefined;
  const json = publish(body, "request", schemas);
  const form = upload?.form === undefined ? undefined : publish(upload.form, "request", schemas);
  const content = {
    // True, as JSON has no bytes. openapi-generator imports the class of a form that is named only here, and does not make it.
    "application/json": { schema: form === undefined ? json : { ...json, not: form } },
    ...(entries === undefined ? {} : bytesOf(["application/x-ndjson"])),
    ...(method === "PATCH" && entries === undefined ? { "application/merge-patch+json": { schema: json } } : {}),
    ...(form === undefined ? {} : { "multipart/form-data": { schema: form } }),
  };
  return { description: "The fields.", required, content };
}
