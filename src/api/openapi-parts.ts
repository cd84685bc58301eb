import { PROBLEMS } from "../problems.ts";

/** The fixed parts of the OpenAPI document. */

export const SECURITY = {
  bearer: { type: "http", scheme: "bearer" },
  apiKey: { type: "apiKey", in: "header", name: "X-API-Key" },
};

export const PROBLEM_SCHEMA = {
  type: "object",
  description: "problem+json (RFC 9457). Some codes have further members.",
  required: ["type", "title", "status", "detail", "code"],
  properties: {
    type: { type: "string", format: "uri-reference" },
    title: { type: "string" },
    status: { type: "integer" },
    detail: { type: "string", description: "Says what is wrong, in a sentence for people." },
    code: { type: "string", enum: Object.keys(PROBLEMS) },
    request_id: { type: "string" },
    errors: {
      type: "array",
      items: {
        type: "object",
        required: ["pointer", "detail"],
        properties: { pointer: { type: "string" }, detail: { type: "string" } },
      },
    },
  },
};

const text = (description: string) => ({ description, schema: { type: "string" } });

export const COMPONENT_HEADERS = {
  ETag: text("A strong entity tag (RFC 9110, 8.8.3)."),
  Location: text("The path of the new resource."),
  "X-Request-Id": text(
    "The request's X-Request-Id if it has 1 to 128 letters, digits or _.:+/=- characters, otherwise a new one.",
  ),
  "RateLimit-Policy": text('draft-ietf-httpapi-ratelimit-headers-10: "account";q=200;w=3600, "key";q=100;w=3600'),
  RateLimit: text('draft-ietf-httpapi-ratelimit-headers-10: "account";r=190;t=812, "key";r=90;t=812'),
};

export const PARAMETERS = {
  "If-Match": {
    name: "If-Match",
    in: "header",
    ...text("An ETag that the client has read. If the resource has changed since, the answer is 412 version_mismatch."),
  },
  "If-None-Match": {
    name: "If-None-Match",
    in: "header",
    ...text("The ETag of the client's copy. While the copy is current, the answer is 304."),
  },
  "Idempotency-Key": {
    name: "Idempotency-Key",
    in: "header",
    description: "Makes retries safe. For 24 hours, the same request with the same key gets the first answer again.",
    schema: { type: "string", minLength: 1, maxLength: 255, pattern: "^[!-~][ -~]*$" },
  },
  "X-Request-Id": { name: "X-Request-Id", in: "header", ...text("Copied to the response and to the log.") },
};

/** Returns the headers of an answer, as references to the components. */
export function answerHeaders({
  location,
  limited,
}: {
  location: boolean;
  limited: boolean;
}): Record<string, { $ref: string }> {
  const names = [
    "ETag",
    "X-Request-Id",
    ...(limited ? ["RateLimit-Policy", "RateLimit"] : []),
    ...(location ? ["Location"] : []),
  ];
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
