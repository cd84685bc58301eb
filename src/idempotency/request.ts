import type { NewId } from "../infra/ids.ts";
import type { JsonAnswer } from "../http/answer.ts";
import type { BinaryAnswer } from "../api/endpoint.ts";

export interface IdempotentRequest {
  readonly account: string;
  /** The Idempotency-Key, 1-255 characters. */
  readonly key: string;
  /** The same for the same request. */
  readonly fingerprint: string;
}

/** Does a request's work once for its key, and replays its first answer (draft-ietf-httpapi-idempotency-key-header). */
export interface Idempotency {
  once(
    request: IdempotentRequest,
    work: (newId: NewId) => Promise<JsonAnswer | BinaryAnswer>,
  ): Promise<{ answer: JsonAnswer | BinaryAnswer; replayed: boolean }>;
}
