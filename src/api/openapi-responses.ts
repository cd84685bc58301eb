import type { TSchema } from "typebox";
import { PROBLEMS, type ProblemCode } from "../problems.ts";
import { words } from "../schema/words.ts";
import type { Route } from "./endpoint.ts";
import type { COMPONENT_HEADERS } from "./openapi-parts.ts";
import { type Json, publish } from "./publish.ts";

export interface Components {
  readonly schemas: Record<string, Json>;
  readonly responses: Record<string, Json>;
}

type HeaderName = keyof typeof COMPONENT_HEADERS;

const ANY_REQUEST: ProblemCode[] = ["malformed_request", "request_timeout", "headers_too_large", "internal_error"];
/** Problems that every endpoint with a key can respond with. `codesOf` adds those that depend on the endpoint. */
const ANY_ENDPOINT: ProblemCode[] = [
  ...ANY_REQUEST,
  ...words("malformed_path invalid_query api_key_missing api_key_invalid api_key_revoked account_suspended"),
  ...words("rate_limited service_restoring limiter_unavailable store_unavailable"),
];
const WITH_UPLOAD: ProblemCode[] = ["payload_too_large", "unsupported_media_type", "validation_failed"];

const NOT_MODIFIED = "The client's copy is current.";

/** Bytes of a media type that is not known beforehand. Generated clients know only the first. */
const ANY_BYTES = ["application/octet-stream", "*/*"];

/** Returns the responses of a route: those of its success, and one for each status of its problems. */
export function responsesOf(route: Route, components: Components): Record<string, Json> {
  const problems = problemResponses(codesOf(route), route.surface !== "free", components);
  return { ...successesOf(route, components), ...problems };
}

export function contractResponses(components: Components): Record<string, Json> {
  const names: HeaderName[] = ["ETag", "Cache-Control", "X-Request-Id", "Vary"];
  const content = { "application/json": { schema: { $ref: "#/components/schemas/Contract" } } };
  return {
    200: { description: "The contract.", headers: headersOf([...names, "Content-Encoding"]), content },
    304: { description: NOT_MODIFIED, headers: headersOf(names) },
    ...problemResponses(ANY_REQUEST, false, components),
  };
}

/** Returns what a request's body or a response can be, if it is a file. `*` stands for any type. */
export function bytesOf(types: readonly string[]): Json {
  const schema = { type: "string", format: "binary" };
  return Object.fromEntries((types.includes("*/*") ? ANY_BYTES : types).map((type) => [type, { schema }]));
}

function successesOf(route: Route, { schemas }: Components): Record<string, Json> {
  const { status, response, dryRun, outcomes, method, surface, binary = [], problems } = route;
  const charged: HeaderName[] = ["X-Request-Id"];
  if (surface !== "free") charged.push("RateLimit-Policy", "RateLimit");
  if (status === 204) return { 204: { description: "It is deleted.", headers: headersOf(charged) } };
  const isFile = binary.includes("*/*");
  const coded: HeaderName[] = isFile ? [] : ["Content-Encoding"];
  const stored: HeaderName[] = ["ETag", "Cache-Control", ...(isFile ? [] : (["Vary"] as const)), ...charged];
  const all = [...stored];
  if (method === "POST") all.push("Idempotent-Replayed");
  if (route.location !== undefined) all.push("Location");
  if (outcomes) all.push("Onboarding-Outcome");
  if (isFile) all.push("Accept-Ranges", "Content-Disposition", "X-Content-Type-Options", "Content-Security-Policy");
  else if (binary.length > 0) all.push("Content-Disposition-Of-File", "X-Content-Type-Options");
  const json = (schema: TSchema) => ({ "application/json": { schema: publish(schema, "response", schemas) } });
  const content = { ...(isFile || response === undefined ? {} : json(response)), ...bytesOf(binary) };
  const description = { 200: "Done.", 201: "It is created.", 202: "It has begun." }[status];
  const byStatus: Record<string, Json> = { [status]: { description, headers: headersOf([...all, ...coded]), content } };
  if (dryRun !== undefined) {
    const ofOutcome: HeaderName[] = outcomes ? ["Idempotent-Replayed", "Onboarding-Outcome"] : [];
    // Not 200: tools take the lowest status for the response of the operation.
    byStatus["2XX"] = {
      description: `With the status 200. For dry_run=true: what the request would do; nothing is stored.${outcomes ? " For on_conflict: the candidate, if it was there already." : ""}`,
      headers: headersOf([...stored, ...ofOutcome, ...coded]),
      content: json(dryRun.response),
    };
  }
  if (problems.includes("range_not_satisfiable")) {
    const headers = headersOf([...all, "Content-Range"]);
    byStatus[206] = { description: "The bytes that Range asks for.", headers, content };
  }
  if (method === "GET") byStatus[304] = { description: NOT_MODIFIED, headers: headersOf(all) };
  return byStatus;
}

/** Returns a reference for each status. The responses themselves are components, named after their codes. */
function problemResponses(codes: readonly ProblemCode[], charged: boolean, { responses }: Components) {
  const byStatus: Record<string, Json> = {};
  for (const status of new Set(codes.map((code) => PROBLEMS[code].status))) {
    const ofStatus = codes.filter((code) => PROBLEMS[code].status === status).toSorted();
    // NotFoundOrContentNotAvailable of not_found and content_not_available.
    const inPascalCase = ofStatus
      .join("_or_")
      .replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
    const name = inPascalCase + (charged ? "" : "Uncharged");
    responses[name] ??= problemResponse(status, ofStatus, charged);
    byStatus[status] = { $ref: `#/components/responses/${name}` };
  }
  return byStatus;
}

function problemResponse(status: number, codes: readonly ProblemCode[], charged: boolean): Json {
  const names: HeaderName[] = ["X-Request-Id", "Cache-Control", "Vary-Of-Problem", "Content-Encoding"];
  if (status === 401) names.push("WWW-Authenticate");
  if (status === 416) names.push("Content-Range");
  if (status === 429 || status === 503) names.push("Retry-After");
  if (codes.includes("idempotency_in_flight")) names.push("Retry-After-In-Flight");
  // A retry of a POST, after what it made was deleted.
  if (codes.includes("candidate_deleted") || codes.includes("not_found")) names.push("Idempotent-Replayed");
  if (charged) names.push("RateLimit-Policy", "RateLimit");
  return {
    description: codes.join(", "),
    headers: headersOf(names),
    content: {
      "application/problem+json": {
        schema: { $ref: "#/components/schemas/Problem" },
        examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
      },
    },
  };
}

function codesOf({ body, upload, method, path, problems }: Route): ProblemCode[] {
  const codes = [...ANY_ENDPOINT, ...problems];
  if (problems.includes("not_found") && !path.startsWith("/webhooks")) codes.push("candidate_deleted");
  if (body !== undefined) codes.push("malformed_json", ...WITH_UPLOAD);
  if (upload !== undefined) codes.push(...WITH_UPLOAD);
  if (method === "POST") codes.push("idempotency_in_flight", "idempotency_key_reused");
  return [...new Set(codes)];
}

function headersOf(names: readonly HeaderName[]): Record<string, { $ref: string }> {
  const plain = (name: string) => name.replace(/-(In-Flight|Of-File|Of-Problem)$/, "");
  return Object.fromEntries(names.map((name) => [plain(name), { $ref: `#/components/headers/${name}` }]));
}
