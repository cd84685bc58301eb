import type { TSchema } from "typebox";
import { PROBLEMS, type ProblemCode } from "../problems.ts";
import { propertiesOf, type Route } from "./endpoint.ts";
import { answerHeaders, COMPONENT_HEADERS, PARAMETERS, PROBLEM_SCHEMA, SECURITY } from "./openapi-parts.ts";

type Json = Record<string, unknown>;

/** Problems that every endpoint can answer with. `codesOf` adds those that depend on the endpoint. */
const EVERYWHERE: ProblemCode[] = [
  "malformed_path",
  "invalid_query",
  "api_key_missing",
  "api_key_invalid",
  "api_key_revoked",
  "account_suspended",
  "internal_error",
  "limiter_unavailable",
  "store_unavailable",
  "rate_limited",
];
const WITH_BODY: ProblemCode[] = [
  "malformed_json",
  "malformed_request",
  "request_timeout",
  "payload_too_large",
  "unsupported_media_type",
  "validation_failed",
];

/** Generates the OpenAPI 3.1 document from the routes. Schemas with a title become components. */
export function openApi(routes: readonly Route[]): Json {
  const schemas: Record<string, Json> = { Problem: PROBLEM_SCHEMA };
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, schemas) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Candidate Onboarding Service",
      version: "2026-11-21",
      description:
        "Mirrors a hiring pipeline. Every surface has an hourly limit per account and per key, checked in that order.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/" }],
    security: [{ bearer: [] }, { apiKey: [] }],
    paths,
    components: { schemas, headers: COMPONENT_HEADERS, parameters: PARAMETERS, securitySchemes: SECURITY },
  };
}

function operationOf(route: Route, schemas: Record<string, Json>): Json {
  const { method, name, summary, surface, params, query } = route;
  const fromSchema = (schema: TSchema | undefined, where: "path" | "query") =>
    Object.entries(propertiesOf(schema)).map(([member, property]) => ({
      name: member,
      in: where,
      required: where === "path",
      schema: hoist(property, schemas),
    }));
  const refs = [
    ...(method === "GET" ? ["If-None-Match"] : ["If-Match"]),
    ...(method === "POST" ? ["Idempotency-Key"] : []),
    "X-Request-Id",
  ].map((header) => ({ $ref: `#/components/parameters/${header}` }));
  const body = requestBodyOf(route, schemas);
  return {
    operationId: name,
    summary,
    description: surface === "free" ? "Not limited." : `Charges the surface \`${surface}\`.`,
    parameters: [...fromSchema(params, "path"), ...fromSchema(query, "query"), ...refs],
    ...(body === undefined ? {} : { requestBody: body }),
    responses: responsesOf(route, schemas),
  };
}

function requestBodyOf({ body, bodyOptional, upload, method }: Route, schemas: Record<string, Json>): Json | undefined {
  const content: Json = {};
  if (body !== undefined) {
    const schema = hoist(body, schemas);
    content["application/json"] = { schema };
    if (method === "PATCH") content["application/merge-patch+json"] = { schema };
  }
  if (upload?.form === "raw") content["*/*"] = { schema: { type: "string", format: "binary" } };
  if (upload?.form === "multipart") {
    const { content: _, ...fields } = propertiesOf(body);
    const parts = { ...fields, content: { type: "string", format: "binary" } };
    content["multipart/form-data"] = {
      schema: { type: "object", properties: hoist(parts, schemas), required: ["name"] },
    };
  }
  return Object.keys(content).length === 0 ? undefined : { required: !bodyOptional, content };
}

function responsesOf(route: Route, schemas: Record<string, Json>): Json {
  const { status, answer, dryRun, binary = [], method, surface } = route;
  const headers = answerHeaders({ location: route.location !== undefined, limited: surface !== "free" });
  // An endpoint that answers with bytes of any type never answers with JSON.
  const isJson = answer !== undefined && !binary.includes("*/*");
  const content: Json = isJson ? { "application/json": { schema: hoist(answer, schemas) } } : {};
  Object.assign(content, binaryOf(binary));
  const responses: Record<string, Json> = {
    [status]: status === 204 ? { description: "Done", headers } : { description: "Done", headers, content },
  };
  if (dryRun !== undefined) {
    const dryRunContent = { "application/json": { schema: hoist(dryRun.answer, schemas) } };
    responses[200] = {
      description: "For dry_run=true: what the request would do. Nothing is stored.",
      headers: answerHeaders({ location: false, limited: true }),
      content: dryRunContent,
    };
  }
  if (route.problems.includes("range_not_satisfiable"))
    responses[206] = { description: "The bytes that Range asks for", headers, content: binaryOf(binary) };
  if (method === "GET") responses[304] = { description: "The client's copy is current", headers };
  const codes = codesOf(route);
  for (const problemStatus of new Set(codes.map((code) => PROBLEMS[code].status))) {
    responses[problemStatus] = {
      description: codes.filter((code) => PROBLEMS[code].status === problemStatus).join(", "),
      content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
    };
  }
  return responses;
}

function binaryOf(types: readonly string[]): Json {
  return Object.fromEntries(types.map((type) => [type, { schema: { type: "string", format: "binary" } }]));
}

function codesOf({ body, upload, method, problems, surface }: Route): ProblemCode[] {
  const codes = [...EVERYWHERE, ...problems];
  if (problems.includes("not_found")) codes.push("candidate_deleted");
  if (body !== undefined || upload !== undefined) codes.push(...WITH_BODY);
  if (method === "POST") codes.push("malformed_request", "idempotency_in_flight", "idempotency_key_reused");
  return [...new Set(codes)].filter((code) => surface !== "free" || code !== "rate_limited");
}

/** Moves every part of the schema that has a title to the components, and leaves references in their place. */
function hoist(value: unknown, schemas: Record<string, Json>): unknown {
  if (Array.isArray(value)) return value.map((item) => hoist(item, schemas));
  if (typeof value !== "object" || value === null) return value;
  const { title } = value as { title?: unknown };
  const copy = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, hoist(member, schemas)]));
  if (typeof title !== "string") return copy;
  schemas[title] ??= copy;
  return { $ref: `#/components/schemas/${title}` };
}
