import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import type { JsonAnswer } from "../http/answer.ts";
import { type Problem, problem, type ProblemCode, type ProblemExtras } from "../problems.ts";

/** What became of a request, as it is kept for replays: an answer, or the refusal that its work threw. */
export type Outcome = { readonly answer: JsonAnswer } | { readonly refusal: Refusal };

interface Refusal {
  readonly code: ProblemCode;
  readonly detail: string;
  readonly extras: Omit<ProblemExtras, "cause">;
}

/** A refusal to keep: all that the problem says but the request id, which is each request's own. */
export function refusalOf({ code, message, extras: { cause: _cause, ...extras } }: Problem): Outcome {
  return { refusal: { code, detail: message, extras } };
}

/** Gives the answer, or throws the refusal, for the first time or as a replay. */
export function tell(outcome: Outcome, replayed: boolean): { answer: JsonAnswer; replayed: boolean } {
  if ("answer" in outcome) return { answer: outcome.answer, replayed };
  const { code, detail, extras } = outcome.refusal;
  const headers = { ...extras.headers, ...(replayed ? { "Idempotent-Replayed": "true" } : {}) };
  throw problem(code, detail, { ...extras, headers });
}

/**
 * An outcome as bytes. Compressed, because JSON text can be six times as long as what it says (control characters): a
 * candidate has at most 8 MiB, so its compressed answer is well under the 16 MiB that a MongoDB document may have.
 */
export async function pack(outcome: Outcome): Promise<Uint8Array> {
  return promisify(gzip)(JSON.stringify(outcome));
}

/** Bytes of `pack` as the outcome they were. */
export async function unpack(bytes: Uint8Array): Promise<Outcome> {
  return JSON.parse((await promisify(gunzip)(bytes)).toString()) as Outcome;
}
