/** The fixed parts of the OpenAPI document. */

export const INFO = {
  title: "Candidate Onboarding Service",
  version: "2026-11-29",
  description:
    "Mirrors a hiring pipeline. Every surface has an hourly limit per account and per key, checked in that order. A body or query with a member that is not known is refused. A response may get further members at any time, so ignore those that you do not know. A refusal is problem+json; its code says what went wrong.",
  license: { name: "MIT", identifier: "MIT" },
};

/** The nouns of the interface. Each operation belongs to one. */
export const TAGS = {
  Candidates: "The people of a hiring pipeline, and the list of their changes.",
  Documents: "What a candidate brings, and the files.",
  References: "The people who are asked about a candidate, and what they said.",
  Outreach: "How often a candidate and the referees are reminded.",
  Pack: "The compliance pack of a candidate, as JSON, PDF or ZIP.",
  Settings: "How the assistant writes, and when it is quiet.",
  Webhooks: "Where the service tells that candidates have changed.",
  Limits: "What the account and the key have used of their limits.",
  Contract: "The description of the interface.",
} as const;
export type Tag = keyof typeof TAGS;

export const SECURITY = {
  bearer: { type: "http", scheme: "bearer", description: "The API key: Authorization: Bearer <key>." },
  apiKey: { type: "apiKey", in: "header", name: "X-API-Key", description: "The API key, in a header of its own." },
};

const text = (description: string, example: string) => ({ description, schema: { type: "string" }, example });
const sent = (description: string, example: string) => ({ ...text(description, example), required: true });

/** Response headers by component. A name may have a suffix where the same header is not always sent. */
export const COMPONENT_HEADERS = {
  ETag: sent(
    "A strong entity tag of the response (RFC 9110, 8.8.3), different for each content coding. Send it back in If-Match or If-None-Match as you received it.",
    '"kX9wq"',
  ),
  Location: sent("The path of the new resource.", "/candidates/cand_01k9z3v5m8e6q9t2w4y7b1d3f5"),
  "Cache-Control": sent("Who may keep the response. Shared caches may not keep personal data.", "private, no-cache"),
  "X-Request-Id": sent(
    "The request's X-Request-Id if it has 1 to 128 letters, digits or _.:+/=- characters, otherwise a new one.",
    "req_01k9z3v9r4j0v5b8f1d4w7m9n3",
  ),
  "RateLimit-Policy": text(
    "The limits of the surface, q requests in w seconds (draft-ietf-httpapi-ratelimit-headers-11), under names that no other surface has. A live grant is a third policy. Sent whenever the limits were checked, also with a refusal.",
    '"account-create";q=200;w=3600, "key-create";q=100;w=3600',
  ),
  RateLimit: text(
    "What is left of them: r requests, and t seconds until the window restarts (draft-ietf-httpapi-ratelimit-headers-11). Sent whenever the limits were checked, also with a refusal.",
    '"account-create";r=190;t=812, "key-create";r=90;t=812',
  ),
  "Retry-After": sent("Whole seconds to wait before the next attempt.", "812"),
  "Retry-After-In-Flight": text("With idempotency_in_flight: whole seconds to wait before the next attempt.", "1"),
  "WWW-Authenticate": sent(
    "How to send a key (RFC 6750, 3).",
    'Bearer realm="candidate-onboarding", error="invalid_token"',
  ),
  "Idempotent-Replayed": text("true for the stored response to an earlier request with this Idempotency-Key.", "true"),
  "Onboarding-Outcome": text(
    "With on_conflict: created, updated or unchanged, what became of the candidate.",
    "updated",
  ),
  "Accept-Ranges": sent("Ranges are in bytes (RFC 9110, 14.3).", "bytes"),
  "Content-Range": sent("Which bytes these are, and of how many (RFC 9110, 14.4).", "bytes 0-1023/184213"),
  "Content-Disposition": sent("The name to save the file under (RFC 6266).", 'attachment; filename="passport.pdf"'),
  "Content-Disposition-Of-File": text(
    "For a PDF or ZIP: the name to save the file under (RFC 6266).",
    'attachment; filename="pack.pdf"',
  ),
  "X-Content-Type-Options": text("Always nosniff: a browser must not guess another media type.", "nosniff"),
  "Content-Security-Policy": sent("Keeps browsers from running strangers' files.", "sandbox; default-src 'none'"),
  Vary: sent("The request headers that the response depends on.", "Accept-Encoding"),
  "Vary-Of-Problem": text("The request header that a problem of 1 kB or more depends on.", "Accept-Encoding"),
  "Content-Encoding": text(
    "br or gzip (RFC 9110, 8.4): the first that Accept-Encoding prefers, for a response of 1 kB or more.",
    "gzip",
  ),
};

/** Request headers, each with its description and an example. */
const REQUEST_HEADERS = {
  "If-Match": [
    "An ETag that the client has read, in any content coding. If the resource has changed since, the response is 412 version_mismatch.",
    '"kX9wq"',
  ],
  "If-None-Match": ["The ETag of the client's copy. While it is current, the response is 304.", '"kX9wq"'],
  "Idempotency-Key": [
    "Makes retries safe. Send 1 to 255 printable ASCII characters. For 24 hours, the same request with the same key gets the first response again.",
    "import-2026-08-17-row-4711",
  ],
  "X-Request-Id": ["Copied to the response and to the log.", "nightly-import-17"],
  Range: ["The bytes to send (RFC 9110, 14.2): one range.", "bytes=0-1023"],
  "If-Range": ["The ETag of the content that the range continues. If it has changed, all of it is sent.", '"kX9wq"'],
  "Content-Disposition": ["The name of the file (RFC 6266).", 'attachment; filename="passport.pdf"'],
} as const;
export type ParameterName = keyof typeof REQUEST_HEADERS;

export const PARAMETERS = Object.fromEntries(
  Object.entries(REQUEST_HEADERS).map(([name, [description, example]]) => {
    const length = name === "Idempotency-Key" ? { minLength: 1, maxLength: 255 } : {};
    return [name, { name, in: "header", required: false, description, schema: { type: "string", ...length }, example }];
  }),
);
