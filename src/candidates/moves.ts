import { problem } from "../problems.ts";
import { DOCUMENT_STATES, type DocumentState } from "./document-schema.ts";
import type { CandidateRecord, DocumentRecord } from "./record.ts";
import type { ReferenceState } from "./reference-schema.ts";

/** A move from any of several states to one. `when` is half a sentence. */
export interface Move<State> {
  readonly from: readonly State[];
  readonly to: State;
  readonly when: string;
}

/** What an edit depends on: whether the candidate is started, and the time (RFC 3339). */
export interface Situation {
  readonly started: boolean;
  readonly now: string;
}

export function situationOf({ started_at }: CandidateRecord, now: string): Situation {
  return { started: started_at !== null, now };
}

/** Says why a document cannot be in this state, and what would change that (interface.md, States). Undefined if it can be. */
export function documentContradiction(
  state: DocumentState,
  { started, now, expires_on }: Situation & { readonly expires_on: string | null },
): string | undefined {
  if (state === "pending" && started) return "the candidate is already started";
  if (state === "requested" && !started) return "the candidate is not started yet. Starting it requests its documents";
  // The expiry sweep would move it to expired within a minute.
  if (state === "accepted" && isPast(expires_on, now))
    return `expires_on, ${expires_on}, has passed. Send a later expires_on, or null`;
  return undefined;
}

/** The moves that the service makes by itself. The documentation draws its diagram from this table. */
export const DOCUMENT_MOVES: Record<"start" | "content" | "expiry", Move<DocumentState>> = {
  start: { from: ["pending"], to: "requested", when: "the candidate is started" },
  content: {
    from: DOCUMENT_STATES.filter((state) => state !== "waived" && state !== "cancelled"),
    to: "received",
    when: "content is uploaded",
  },
  expiry: { from: ["accepted"], to: "expired", when: "the day after expires_on begins" },
};

/** Returns true if the day `expires_on` is over in UTC at `now`, a date or a time (RFC 3339). Null is never past. */
function isPast(expires_on: string | null, now: string): boolean {
  return expires_on !== null && expires_on < now.slice(0, "YYYY-MM-DD".length);
}

/** The move that the service makes by itself. The documentation draws its diagram from it. */
export const REFERENCE_MOVES: Record<"start", Move<ReferenceState>> = {
  start: { from: ["not_requested"], to: "requested", when: "the candidate is started" },
};

/** As `documentContradiction`. */
export function referenceContradiction(state: ReferenceState, started: boolean): string | undefined {
  if (state === "not_requested" && started) return "the candidate is already started";
  if (state === "requested" && !started) return "the candidate is not started yet. Starting it requests its references";
  return undefined;
}

/**
 * Refuses a state that contradicts the rest of a document or reference. The problem names the states that are open.
 * @param contradictionOf says why it cannot be in one of these states; undefined if it can be.
 * @param where `from`: its state before, null if it is new. `at`: where it is in the body, a JSON Pointer.
 * @throws problem invalid_transition
 */
export function refuseContradiction<State extends string>(
  to: State,
  states: readonly State[],
  contradictionOf: (state: State) => string | undefined,
  { from, at = "" }: { from: State | null; at?: string | undefined },
): void {
  const why = contradictionOf(to);
  if (why === undefined) return;
  const allowed = states.filter((state) => contradictionOf(state) === undefined);
  const open = allowed.join(", ");
  throw problem("invalid_transition", `state cannot be ${to}: ${why}. Send one of these states instead: ${open}.`, {
    members: { from, to, allowed },
    errors: [{ pointer: `${at}/state`, detail: `must be one of ${open}` }],
  });
}

export type Expiring = Pick<DocumentRecord, "state" | "expires_on">;

/**
 * Moves accepted documents to expired if their expires_on is before `today`. Returns the same record if there are none.
 * Also applies to withdrawn candidates, because no client makes this change.
 * @param today the date in UTC. A document is valid until the end of its expires_on.
 */
export function expired(record: CandidateRecord, today: string, now: string): CandidateRecord {
  const isOver = ({ state, expires_on }: Expiring) => expires(state) && isPast(expires_on, today);
  if (!record.documents.some(isOver)) return record;
  return {
    ...record,
    documents: record.documents.map((document) =>
      isOver(document) ? { ...document, state: DOCUMENT_MOVES.expiry.to, updated_at: now } : document,
    ),
  };
}

/** Returns whether a document in this state expires. */
export function expires(state: DocumentRecord["state"]): boolean {
  return DOCUMENT_MOVES.expiry.from.includes(state);
}
