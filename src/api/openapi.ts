import type { TSchema } from "typebox";
import { propertiesOf, type Route } from "./endpoint.ts";
import { answersOf, bytesOf, type Components, contractAnswers } from "./openapi-answers.ts";
import { COMPONENT_HEADERS, INFO, type ParameterName, PARAMETERS, SECURITY, TAGS } from "./openapi-parts.ts";
import { FAULT_SCHEMA, PROBLEM_EXAMPLES, PROBLEM_SCHEMA } from "./openapi-problems.ts";
import { publish } from "./publish.ts";

type Json = Record<string, unknown>;

const CONTRACT_SCHEMA = { type: "object", description: "An OpenAPI 3.1 document.", additionalProperties: true };

/** Generates the OpenAPI 3.1 document from the routes. Schemas with a title become components. */
export function openApi(routes: readonly Route[]): Json {
  const components: Components = {
    schemas: { Problem: PROBLEM_SCHEMA, Fault: FAULT_SCHEMA, Contract: CONTRACT_SCHEMA },
    responses: {},
  };
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, components) };
  }
  paths["/openapi.json"] = { get: contractOperation(components) };
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
  const charge = surface === "free" ? "Charges no surface." : `Charges the surface \`${surface}\``;
  const charges =
    dryRun === undefined ? charge.replace(/`$/, "`.") : `${charge}; a dry run charges \`${dryRun.surface}\`.`;
  const body = requestBodyOf(route, schemas);
  return {
    operationId: name,
    tags: [tag],
    summary,
    description: `${description} ${charges}`,
    parameters: [
      ...parametersOf(params, "path", schemas),
      ...parametersOf(query, "query", schemas),
      ...headerParameters(route).map(parameterRef),
    ],
    ...(body === undefined ? {} : { requestBody: body }),
    responses: answersOf(route, components),
  };
}

function contractOperation(components: Components): Json {
  return {
    operationId: "readContract",
    tags: ["Contract"],
    summary: "Read this document",
    description: "The interface as an OpenAPI 3.1 document. Needs no key and charges no surface.",
    security: [],
    parameters: (["If-None-Match", "X-Request-Id"] as const).map(parameterRef),
    responses: contractAnswers(components),
  };
}

/** A parameter's text is about the parameter, so it moves there from the schema. */
function parametersOf(schema: TSchema | undefined, where: "path" | "query", schemas: Record<string, Json>): Json[] {
  return Object.entries(propertiesOf(schema)).map(([name, property]) => {
    const { description, examples, ...rest } = publish(property, "request", schemas);
    const example = Array.isArray(examples) ? { example: examples[0] as unknown } : {};
    return { name, in: where, required: where === "path", description, schema: rest, ...example };
  });
}

function headerParameters({ method, problems, upload }: Route): ParameterName[] {
  return [
    ...(method === "GET" ? (["If-None-Match"] as const) : []),
    ...(problems.includes("version_mismatch") ? (["If-Match"] as const) : []),
    ...(method === "POST" ? (["Idempotency-Key"] as const) : []),
    ...(problems.includes("range_not_satisfiable") ? (["Range", "If-Range"] as const) : []),
    ...(upload?.form === "raw" ? (["Content-Disposition"] as const) : []),
    "X-Request-Id",
  ];
}

function parameterRef(name: ParameterName): Json {
  return { $ref: `#/components/parameters/${name}` };
}

/** JSON stands first: tools that know one media type for a body take the first. */
function requestBodyOf({ body, bodyOptional, upload, method }: Route, schemas: Record<string, Json>): Json | undefined {
  const content: Json = {};
  if (body !== undefined) {
    const schema = publish(body, "request", schemas);
    content["application/json"] = { schema };
    if (method === "PATCH") content["application/merge-patch+json"] = { schema };
  }
  if (upload?.form === "raw") Object.assign(content, bytesOf(["*/*"]));
  if (upload?.form === "multipart") {
    const form = publish(upload.fields, "request", schemas);
    content["multipart/form-data"] = { schema: form };
    // True, as JSON has no bytes. openapi-generator imports the class of a form that is named only here, and does not make it.
    if (body !== undefined)
      content["application/json"] = { schema: { ...publish(body, "request", schemas), not: form } };
  }
  if (Object.keys(content).length === 0) return undefined;
  return {
    description: upload?.form === "raw" ? "The bytes, of any media type." : "The fields.",
    required: !bodyOptional,
    content,
  };
}
