import type { ProblemCode } from "../../problems.ts";
import { words } from "../../schema/words.ts";

/** What problems mean to their readers. Markdown, without links. */

/** A program may send the same request again without a person. After any other problem it may do so only after a change. */
export const RETRIED_LATER: readonly ProblemCode[] = [
  ...words("content_not_available request_timeout idempotency_in_flight rate_limited internal_error pack_unavailable"),
  ...words("service_restoring limiter_unavailable store_unavailable"),
];
/** A program may not send the same request again. */
export const NEVER_RETRIED: readonly ProblemCode[] = ["account_suspended", "candidate_deleted"];

/** When a response is this problem. The order is that of PROBLEMS, and a code that is left out does not compile. */
export const WHEN: Record<ProblemCode, string> = {
  malformed_json: "The body is empty, is not JSON in UTF-8, names a member twice, or has more than 100 levels.",
  malformed_path: "The path of the URL is not valid percent-encoded UTF-8.",
  malformed_request:
    "The request is not valid HTTP, a header such as `Idempotency-Key` has a wrong form, or the connection closed before the whole body had arrived.",
  invalid_query:
    "A query parameter is unknown, repeated, or has a wrong value. A cursor is also refused if it was changed.",
  api_key_missing: "The request has no API key, or sends it in the wrong place.",
  api_key_invalid: "The key is mistyped or unknown, or it was replaced and its grace period is over.",
  api_key_revoked: "The key was revoked.",
  account_suspended: "The account is suspended. All of its keys are refused.",
  not_found:
    "The path does not exist, or your account has nothing with this id. Other accounts' objects look the same.",
  content_not_available: "The document exists, but no file was uploaded for it.",
  method_not_allowed: "The path exists, but does not take this method.",
  not_acceptable: "`Accept` names only types that the pack does not have.",
  request_timeout: "The body did not arrive completely in time.",
  external_id_taken: "Another candidate of your account has this `external_id`.",
  invalid_transition:
    "The state that you send would contradict the rest: a requested document of a candidate that is not started, for example.",
  on_hold: "You delete a candidate that is under a hold, or one of its documents or references, or replace a file.",
  candidate_withdrawn: "You start a candidate that is withdrawn.",
  idempotency_in_flight:
    "The first request with this `Idempotency-Key` has no response yet, or its response is just being stored.",
  active_key_cap_reached:
    "The account already has as many active keys as it may have. Only the operators' command line shows this.",
  nothing_to_send:
    "You ask for a reminder now, and nobody can be reminded: `reason` says why, in the words of `outreach.reason`.",
  reminded_recently:
    "You ask for a reminder now, less than an hour after the last request of this kind for the candidate.",
  too_many_documents: "The candidate already has 200 documents.",
  too_many_references: "The candidate already has 50 references.",
  too_many_webhooks: "The account already has 5 webhooks.",
  candidate_deleted: "The candidate was deleted and its data is erased.",
  version_mismatch:
    "`If-Match` names an entity tag that is not the current one: someone else has changed the resource. Or it names a weak one (`W/`), which a proxy that compresses has made.",
  payload_too_large: "The body, the file, a form's fields or the whole candidate would be larger than allowed.",
  unsupported_media_type: "The `Content-Type` is not one that the endpoint takes, or the body is compressed.",
  range_not_satisfiable: "`Range` asks for bytes past the end of the file.",
  validation_failed:
    "The body is JSON, but its values are not allowed: an unknown field, a wrong type, a text that is too long.",
  idempotency_key_reused: "This `Idempotency-Key` was used for a different request within 24 hours.",
  rate_limited:
    "The window of the account or of the key is used up for this surface. `scope` says which. The scope `address` means that too many wrong keys came from your address.",
  headers_too_large: "The request's headers are larger than 16 KiB in all.",
  internal_error: "Something failed on our side.",
  pack_unavailable: "Too many packs are being made, or this one took too long.",
  service_restoring: "The service is being restored from a backup. Nobody is served until its operator has finished.",
  limiter_unavailable: "The limits cannot be checked at the moment, so nothing is let through.",
  store_unavailable: "The data store did not answer in time. A write may or may not have happened.",
};

/** What a client does about it. */
export const REMEDIES: Record<ProblemCode, string> = {
  malformed_json: "Send one JSON object, at least `{}`. `detail` says where the parser stopped.",
  malformed_path:
    "Encode each byte of an id as `%` and two hexadecimal digits. Most HTTP clients have a function for it.",
  malformed_request: "Read `detail`: it names the header. If the connection broke, send the request again.",
  invalid_query: "`errors` names each parameter. Send a cursor exactly as you received it.",
  api_key_missing: "Send `Authorization: Bearer <key>`, or `X-API-Key: <key>`. Never put the key into the URL.",
  api_key_invalid:
    "Check that the whole key was copied. If it was rotated, use the new one. Do not retry with the same key: after 20 unknown keys in a minute, every unknown key from your address is refused with 429.",
  api_key_revoked: "Use another key of the account, or ask for a new one. Stop all jobs that use this key.",
  account_suspended: "Stop, and contact support.",
  not_found: "Check the id and the account of the key. Compare the path with the reference.",
  content_not_available: "Read the document first: `content` is null until there is a file.",
  method_not_allowed: "Use one of the methods in the `Allow` header.",
  not_acceptable: "Ask for `application/json`, `application/pdf` or `application/zip`, or set `format` in the query.",
  request_timeout: "Send it again. If it happens often, your uplink is slow or your client stops while it sends.",
  external_id_taken: "`candidate_id` names that candidate. Change it with PATCH instead of creating a second one.",
  invalid_transition: "Send one of the states in `allowed`, or change first what `detail` names.",
  on_hold: 'Keep it. Once the reason for the hold is gone, lift it first: PATCH the candidate with `"hold": null`.',
  candidate_withdrawn: 'Reinstate the candidate with PATCH and `"withdrawn": false`, then start it.',
  idempotency_in_flight:
    "Wait for `Retry-After`, then send the same request with the same key. You get the response of the first one.",
  active_key_cap_reached: "Ask the operator to revoke a key that is no longer used.",
  nothing_to_send:
    "Correct what `reason` names, such as an address or a cap. If nothing is outstanding, there is nothing to do.",
  reminded_recently: "Wait for `Retry-After`. Reminders go out by themselves, too: `outreach.next_at` says when.",
  too_many_documents: "Change or delete one of them.",
  too_many_references: "Change or delete one of them.",
  too_many_webhooks: "Change or delete one of them.",
  candidate_deleted: "Delete your copy. The list shows this id as a row with `deleted: true`, for good.",
  version_mismatch:
    "Read the resource again, decide whether your change still applies, and send it with the new `ETag`.",
  payload_too_large: "`detail` says the limit. Upload large files as raw bytes or as a form, not as base64.",
  unsupported_media_type: "Send JSON in UTF-8 without `Content-Encoding`, unless the reference names another type.",
  range_not_satisfiable:
    "`Content-Range` says how large the file is. If you resume a download, it may already be complete.",
  validation_failed:
    "Every fault is in `errors`, up to 100, each with its JSON Pointer. Mend all of them, then send the body again.",
  idempotency_key_reused: "Make a new key for each new request. Repeat a key only with exactly the same path and body.",
  rate_limited:
    "Wait for `Retry-After` seconds, then go on. Requests sent before then are refused too. Watch `RateLimit` to slow down before it happens.",
  headers_too_large: "Send fewer or shorter headers. Cookies and headers that proxies add are the usual cause.",
  internal_error:
    "Send the same request again after a pause that grows, with the same `Idempotency-Key` if it is a POST. If it stays, contact support with the `request_id`.",
  pack_unavailable: "Wait for `Retry-After`, or read the pack as JSON: that is always made at once.",
  service_restoring:
    "Wait for `Retry-After`, then send the request again. Then read the feed from the start, without a cursor.",
  limiter_unavailable: "Wait for `Retry-After`, then send the request again.",
  store_unavailable:
    "Wait for `Retry-After`, then send the same request again, with the same `Idempotency-Key` if it is a POST.",
};
