/** Every problem of the API, with its status and title. No other file knows the status of a problem. */
export const PROBLEMS = {
  malformed_json: { status: 400, title: "Malformed JSON" },
  malformed_path: { status: 400, title: "Malformed path" },
  malformed_request: { status: 400, title: "Malformed request" },
  invalid_query: { status: 400, title: "Invalid query" },
  api_key_missing: { status: 401, title: "API key missing" },
  api_key_invalid: { status: 401, title: "API key invalid" },
  api_key_revoked: { status: 401, title: "API key revoked" },
  account_suspended: { status: 403, title: "Account suspended" },
  not_found: { status: 404, title: "Not found" },
  content_not_available: { status: 404, title: "Content not available" },
  method_not_allowed: { status: 405, title: "Method not allowed" },
  not_acceptable: { status: 406, title: "Not acceptable" },
  request_timeout: { status: 408, title: "Request timeout" },
  external_id_taken: { status: 409, title: "External id taken" },
  invalid_transition: { status: 409, title: "Invalid transition" },
  candidate_withdrawn: { status: 409, title: "Candidate withdrawn" },
  idempotency_in_flight: { status: 409, title: "Idempotent request in flight" },
  active_key_cap_reached: { status: 409, title: "Active key cap reached" },
  nothing_to_send: { status: 409, title: "Nothing to send" },
  reminded_recently: { status: 409, title: "Reminded recently" },
  on_hold: { status: 409, title: "On hold" },
  too_many_documents: { status: 409, title: "Too many documents" },
  too_many_references: { status: 409, title: "Too many references" },
  too_many_webhooks: { status: 409, title: "Too many webhooks" },
  candidate_deleted: { status: 410, title: "Candidate deleted" },
  version_mismatch: { status: 412, title: "Version mismatch" },
  payload_too_large: { status: 413, title: "Payload too large" },
  unsupported_media_type: { status: 415, title: "Unsupported media type" },
  range_not_satisfiable: { status: 416, title: "Range not satisfiable" },
  validation_failed: { status: 422, title: "Validation failed" },
  idempotency_key_reused: { status: 422, title: "Idempotency key reused" },
  rate_limited: { status: 429, title: "Too many requests" },
  headers_too_large: { status: 431, title: "Request header fields too large" },
  internal_error: { status: 500, title: "Internal error" },
  pack_unavailable: { status: 503, title: "Pack unavailable" },
  service_restoring: { status: 503, title: "Service restoring" },
  limiter_unavailable: { status: 503, title: "Limiter unavailable" },
  store_unavailable: { status: 503, title: "Store unavailable" },
} as const;

/** The `type` of a 429, from the IANA registry HTTP Problem Types. All other problems have types of this service. */
export const QUOTA_EXCEEDED = "https://iana.org/assignments/http-problem-types#quota-exceeded";

export type ProblemCode = keyof typeof PROBLEMS;

/** One fault of an input. `pointer` is a JSON Pointer (RFC 6901), or the name of a header or parameter. */
export interface Fault {
  pointer: string;
  detail: string;
}

/** Maximum number of faults listed in a response. Finding more costs time and helps nobody. */
export const MAX_FAULTS = 100;

/** Returns the faults for a response. If there are too many, a last entry says so. */
export function listed(faults: readonly Fault[]): Fault[] {
  if (faults.length <= MAX_FAULTS) return [...faults];
  return [...faults.slice(0, MAX_FAULTS), { pointer: "", detail: "and more faults" }];
}

/** Optional parts of a problem. `members` are added to the problem document, and `headers` to the response. */
export interface ProblemExtras {
  errors?: Fault[];
  members?: Record<string, unknown>;
  headers?: Record<string, string>;
  cause?: unknown;
  /** The account and key that are refused, if they are known. Only for the log. */
  about?: { readonly accountId: string; readonly keyId: string };
  /** A word that tells refusals of one code apart. Only for the log. */
  reason?: string;
}

/** Why a request is refused, as a value: in a flood, an Error with its stack costs more than the work that it refuses. */
export interface Refusal {
  readonly code: ProblemCode;
  /** A sentence for a person. It must not name anything that belongs to another account. */
  readonly detail: string;
  readonly extras: ProblemExtras;
}

/** A refusal to throw: the only error that domain code throws on purpose. */
export class Problem extends Error implements Refusal {
  readonly code: ProblemCode;
  readonly extras: ProblemExtras;

  constructor({ code, detail, extras }: Refusal) {
    super(detail, { cause: extras.cause });
    this.name = "Problem";
    this.code = code;
    this.extras = extras;
  }

  get detail(): string {
    return this.message;
  }

  get status(): number {
    return PROBLEMS[this.code].status;
  }
}

type Scope = "account" | "key" | "address" | "link";

/**
 * Returns the extras of a rate_limited problem. @param policy the name of the quota that is used up, as in RateLimit-Policy.
 * @param members `remaining`: what a smaller request could still be charged. `retry_after` is in whole seconds.
 */
export function quotaExceeded(
  policy: string,
  members: { surface?: string; scope: Scope; limit: number; remaining?: number; retry_after: number },
) {
  return {
    members: { type: QUOTA_EXCEEDED, "violated-policies": [policy], ...members },
    headers: { "Retry-After": String(members.retry_after) },
  } satisfies ProblemExtras;
}

export function refusal(code: ProblemCode, detail: string, extras: ProblemExtras = {}): Refusal {
  return { code, detail, extras };
}

export function isRefusal(value: object): value is Refusal {
  return "code" in value;
}

/** Makes a problem to throw: `throw problem("not_found", "No candidate has the id …")`. */
export function problem(code: ProblemCode, detail: string, extras?: ProblemExtras): Problem {
  return new Problem(refusal(code, detail, extras));
}

/** Refuses every request while MongoDB is being restored. */
export const RESTORING = refusal("service_restoring", "The service is being restored from a backup. Try again later.", {
  headers: { "Retry-After": "60" },
});

/**
 * Makes a validation_failed problem for one wrong value.
 * @param pointer where it is: a JSON Pointer, or the name of a header.
 * @param must what is wrong with it: "must be …".
 */
export function invalid(pointer: string, must: string, detail = `${pointer} ${must}.`): Problem {
  return problem("validation_failed", detail, { errors: [{ pointer, detail: must }] });
}

/** Returns the number. @throws problem `validation_failed` if it is not whole, or not from `min` to `max`. */
export function wholeNumber(pointer: string, value: number, min: number, max: number): number {
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw invalid(pointer, `must be a whole number from ${min} to ${max}`);
}

/** Returns whether an error says that a candidate does not exist or was deleted. */
export function isGone(error: unknown): boolean {
  return error instanceof Problem && (error.code === "not_found" || error.code === "candidate_deleted");
}

/**
 * Checks If-Match, so that a write applies only to a version that its client has seen. A service calls it with the
 * current views of the resource (for a document, its own and its candidate's) and the entity tags of anything that is
 * not a view (content). It passes if If-Match names one of them, or if the request has no If-Match.
 * @throws problem `version_mismatch`
 */
export type Precondition = (views: () => readonly unknown[], tags?: readonly string[]) => void;
