import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import type { JsonResponse } from "../http/response.ts";
import { type Problem, problem, type ProblemCode, type ProblemExtras } from "../problems.ts";

/** The outcome of a request, as stored for replays: a response (`answer` since 0.1.0), or the refusal that its work threw. */
export type Outcome = { readonly answer: JsonResponse } | { readonly refusal: StoredRefusal };

type StoredRefusal = Readonly<{ code: ProblemCode; detail: string; extras: Omit<ProblemExtras, "cause"> }>;

/** Converts a problem to a refusal that can be stored. It has no request id: each replay gets its own. */
export function storedRefusal({ code, message, extras: { cause: _cause, ...extras } }: Problem): Outcome {
  return { refusal: { code, detail: message, extras } };
}

/** Returns the response or throws the refusal, with these headers added. */
export function responseOrThrow(outcome: Outcome, added: Record<string, string> = {}): JsonResponse {
  if ("answer" in outcome) return { ...outcome.answer, headers: { ...outcome.answer.headers, ...added } };
  const { code, detail, extras } = outcome.refusal;
  throw problem(code, detail, { ...extras, headers: { ...extras.headers, ...added } });
}

/**
 * Encodes an outcome as compressed JSON, because escapes can make text six times as long (control characters). A
 * candidate has at most 2 MiB (8 MiB in 0.1.0), so this is well below the 16 MiB that a MongoDB document may have.
 */
export async function pack(outcome: Outcome): Promise<Uint8Array> {
  const stored =
    "answer" in outcome ? { answer: { ...outcome.answer, body: outcome.answer.body.toString() } } : outcome;
  return promisify(gzip)(JSON.stringify(stored));
}

export async function unpack(bytes: Uint8Array): Promise<Outcome> {
  return JSON.parse((await promisify(gunzip)(bytes)).toString()) as Outcome;
}
