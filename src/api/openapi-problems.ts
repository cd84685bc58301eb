import { PROBLEMS, type ProblemCode, quotaExceeded } from "../problems.ts";
import { CANDIDATE_ID, DOCUMENT_ID } from "../schema/example-ids.ts";

/** The schema of problems in the OpenAPI document, and an example of each. */

const text = (description: string, example: string) => ({ type: "string", description, examples: [example] });
const texts = (description: string, example: string[]) => ({
  type: "array",
  description,
  items: { type: "string" },
  examples: [example],
});

const whole = (description: string, example: number) => ({ type: "integer", description, examples: [example] });

export const FAULT_SCHEMA = {
  type: "object",
  description: "One fault of the request.",
  required: ["pointer", "detail"],
  properties: {
    pointer: text("Where the fault is: a JSON Pointer (RFC 6901), or the name of a header.", "/email"),
    detail: text("What is wrong there.", "must be one email address without a display name"),
  },
};

export const PROBLEM_SCHEMA = {
  type: "object",
  description: "Why a request was refused (problem+json, RFC 9457).",
  required: ["type", "title", "status", "detail", "code", "request_id"],
  properties: {
    type: text("A link to what the problem means: relative to the service, or an absolute URI.", "/docs#not_found"),
    title: text("The problem in two or three words.", "Not found"),
    status: whole("The HTTP status.", 404),
    detail: text(
      "What is wrong and what to send instead: a sentence for a person.",
      `There is no candidate "${CANDIDATE_ID}". Check the id.`,
    ),
    code: {
      type: "string",
      enum: Object.keys(PROBLEMS),
      description: "What went wrong, for programs. A code never changes its meaning.",
      examples: ["not_found"],
    },
    request_id: text("The X-Request-Id of the request. Quote it to support.", "req_01k9z3v9r4j0v5b8f1d4w7m9n3"),
    errors: {
      type: "array",
      description: "Every fault of the input, up to 100.",
      items: { $ref: "#/components/schemas/Fault" },
    },
    surface: text("With rate_limited: the surface whose limit is reached.", "create"),
    scope: text("With rate_limited: account, key, or address (too many wrong keys from one address).", "key"),
    "violated-policies": texts(
      "With rate_limited: the quota that is used up (draft-ietf-httpapi-ratelimit-headers-11, 5.1). For a surface it has the name of its policy in RateLimit-Policy.",
      ["key-create"],
    ),
    limit: whole("With rate_limited: the limit, in requests of a window.", 100),
    remaining: whole("With rate_limited: as how many a request may count now.", 37),
    retry_after: whole("With rate_limited and reminded_recently: seconds to wait, rounded up.", 812),
    from: {
      type: ["string", "null"],
      description: "With invalid_transition: the state now. Null: none yet.",
      examples: ["requested"],
    },
    to: text("With invalid_transition: the state that was asked for.", "requested"),
    allowed: texts("With invalid_transition: the states that are open.", ["received", "accepted"]),
    reason: text("With nothing_to_send: why no reminder can go out, as in outreach.reason.", "cap_reached"),
    candidate_id: text("With external_id_taken: the candidate that has the id.", CANDIDATE_ID),
    current_etag: text("With version_mismatch: the ETag of the resource now.", '"kX9wq"'),
  },
};

const DETAILS: Record<ProblemCode, string> = {
  malformed_json: "The request has no body. Send a JSON object, at least {}.",
  malformed_path: "The path is not valid percent-encoded UTF-8.",
  malformed_request: "Send exactly one Host header.",
  invalid_query: "The query is not valid. /limit must be at least 1.",
  api_key_missing: "Send your API key as Authorization: Bearer <key>.",
  api_key_invalid: "The API key is not valid. Check it.",
  api_key_revoked: "The API key was revoked. Use another key, or ask for a new one.",
  account_suspended: "The account is suspended. Contact support to have it resumed.",
  not_found: `There is no candidate "${CANDIDATE_ID}". Check the id.`,
  content_not_available: `Document ${DOCUMENT_ID} is requested and has no content. Read it once its \`content\` is not null.`,
  method_not_allowed: "This path does not take PUT. Use DELETE, GET, PATCH.",
  not_acceptable: "The pack has none of the types in Accept.",
  request_timeout: "No data arrived for 30 seconds, and the request body was incomplete. Send it again.",
  external_id_taken: `Candidate ${CANDIDATE_ID} already has this external_id.`,
  invalid_transition:
    "state cannot be pending: the candidate is started. Send one of these states instead: requested, received.",
  candidate_withdrawn: 'The candidate is withdrawn. PATCH it with "withdrawn": false first.',
  idempotency_in_flight:
    "The first request with this Idempotency-Key is still in progress. Send the request again in a second.",
  active_key_cap_reached: "The account has 5 active keys, the maximum. Revoke one first.",
  on_hold: `Candidate ${CANDIDATE_ID} is under a hold, with its documents, their files and its references. Keep it, or lift the hold first: PATCH the candidate with "hold": null.`,
  nothing_to_send: "No reminder can go out. The reason is cap_reached: /docs#nothing_to_send says what to do.",
  reminded_recently: "A reminder was asked for less than an hour ago. Try again in 1742 seconds.",
  too_many_documents: "The candidate already has 200 documents, the maximum.",
  too_many_references: "The candidate already has 50 references, the maximum.",
  too_many_webhooks: "An account may have 5 webhooks, and has that many. Delete one first.",
  candidate_deleted: "The candidate was deleted and its data erased. Remove it from your mirror.",
  version_mismatch: "The resource has changed since you read it. Read it again.",
  payload_too_large: "The JSON body is too large. Send at most 1048576 bytes.",
  unsupported_media_type: "The body is text/plain. Send application/json.",
  range_not_satisfiable: "The range lies outside the content, which has 184213 bytes.",
  validation_failed: "The body is not valid. /emial is not a known field. Did you mean email?",
  idempotency_key_reused: "This Idempotency-Key was already used for a different request.",
  rate_limited:
    "Too many requests: this key may make 100 create requests in an hour. Please try again shortly: in 14 minutes.",
  headers_too_large: "The request headers are larger than 16 KiB. Send fewer or shorter ones.",
  internal_error: "Something went wrong on our side. Quote the request_id when you contact support.",
  pack_unavailable: "Too many packs are being made. Try again shortly.",
  service_restoring: "The service is being restored from a backup. Try again later.",
  limiter_unavailable: "The rate limits cannot be checked right now. Please try again shortly.",
  store_unavailable: "The store did not answer in time. Try again shortly.",
};

const errors = (pointer: string, detail: string) => ({ errors: [{ pointer, detail }] });

/** Further members of the documents. */
const MEMBERS: Partial<Record<ProblemCode, object>> = {
  invalid_query: errors("/limit", "must be at least 1"),
  external_id_taken: { candidate_id: CANDIDATE_ID, ...errors("/external_id", "must be unique in the account") },
  invalid_transition: {
    from: "requested",
    to: "pending",
    allowed: ["requested", "received"],
    ...errors("/state", "cannot be pending"),
  },
  nothing_to_send: { reason: "cap_reached" },
  reminded_recently: { retry_after: 1742 },
  version_mismatch: { current_etag: '"kX9wq"' },
  validation_failed: errors("/emial", "is not a known field. Did you mean email?"),
  rate_limited: quotaExceeded("key-create", { surface: "create", scope: "key", limit: 100, retry_after: 812 }).members,
};

export const PROBLEM_EXAMPLES = Object.fromEntries(
  Object.entries(PROBLEMS).map(([name, { status, title }]) => {
    const code = name as ProblemCode;
    const [detail, request_id] = [DETAILS[code], "req_01k9z3v9r4j0v5b8f1d4w7m9n3"];
    const value = { type: `/docs#${code}`, title, status, detail, code, request_id, ...MEMBERS[code] };
    return [code, { summary: title, value }];
  }),
);
