import { expires, type Expiring } from "./moves.ts";
import type { DocumentState } from "./document-schema.ts";
import { hasOptedOut } from "./outreach.ts";
import type { CandidateRecord, Derived, DocumentRecord, ReferenceRecord } from "./record.ts";
import { TO_CANDIDATE } from "./record.ts";
import type { ReferenceState } from "./reference-schema.ts";
import type { Candidate, CandidateState, ReferenceRequirements, WaitingOn } from "./schema.ts";

type Facts = Omit<CandidateRecord, "state">;

/** Part of every ETag and row. If a release changes a text, render.ts keeps the earlier one for ETags. */
const DOCUMENT_WAITS: Partial<Record<DocumentState, string>> = {
  requested: "has not arrived",
  received: "has arrived and is to be reviewed",
  rejected: "was rejected",
  expired: "has expired",
};

const REFERENCE_WAITS: Partial<Record<ReferenceState, string>> = {
  requested: "has not answered",
  declined: "has declined",
  bounced: "cannot be reached: the message bounced",
  unresponsive: "does not respond",
};

const NEEDS_ACTION = new Set<string>(["rejected", "expired", "declined", "bounced", "unresponsive"]);

interface StateFacts {
  readonly facts: Facts;
  /** The live documents that are required, and the live references. */
  readonly awaited: readonly (DocumentRecord | ReferenceRecord)[];
  readonly outstanding: number;
}

/**
 * When a candidate is in which state: the first rule that holds decides, and without one it is in_progress. The
 * documentation draws its diagram from this table; `when` completes the sentence "A candidate is … if".
 */
export const STATE_RULES: readonly {
  readonly state: CandidateState;
  readonly when: string;
  readonly holds: (facts: StateFacts) => boolean;
}[] = [
  { state: "withdrawn", when: "it is withdrawn", holds: ({ facts }) => facts.withdrawn },
  { state: "created", when: "it is not started", holds: ({ facts }) => facts.started_at === null },
  {
    state: "action_required",
    when: `a required document or a reference is one of: ${[...NEEDS_ACTION].join(", ")}`,
    holds: ({ awaited }) => awaited.some(({ state }) => NEEDS_ACTION.has(state)),
  },
  {
    state: "completed",
    when: "something was asked for, all of it is accepted or received, and no reference is outstanding",
    holds: ({ facts, awaited, outstanding }) =>
      (facts.documents.some(isLive) || facts.references.some(isLive)) && outstanding === 0 && awaited.every(isSettled),
  },
];

/**
 * Derives a candidate's state from its records (interface.md, States). Pure, and the only place that does so. A
 * candidate never waits for a document with `required: false`.
 */
export function derive(facts: Facts): Pick<Candidate, "state" | Derived> {
  const documents = facts.documents.filter((document) => isLive(document) && document.required);
  const references = facts.references.filter(isLive);
  const reference_requirements = requirementsOf(facts.references_required, references);
  const situation = { facts, awaited: [...documents, ...references], outstanding: reference_requirements.outstanding };
  const state = STATE_RULES.find(({ holds }) => holds(situation))?.state ?? "in_progress";
  const waiting_on =
    state === "withdrawn" || state === "completed" ? [] : waitsOf(facts, documents, references, reference_requirements);
  return { state, state_reason: reasonOf(facts, state, waiting_on), waiting_on, reference_requirements };
}

function isLive({ state }: DocumentRecord | ReferenceRecord): boolean {
  return state !== "waived" && state !== "cancelled";
}

function requirementsOf(references_required: number | null, live: readonly ReferenceRecord[]): ReferenceRequirements {
  const required = references_required ?? live.length;
  const received = live.filter(({ state }) => state === "received").length;
  return { required, received, outstanding: Math.max(required - received, 0) };
}

function isSettled(item: DocumentRecord | ReferenceRecord): boolean {
  return "relationship" in item ? item.state === "received" : item.state === "accepted";
}

function reasonOf(facts: Facts, state: CandidateState, waits: readonly WaitingOn[]): string | null {
  if (state === "withdrawn") return facts.withdrawal_reason;
  if (state !== "action_required") return null;
  return waits.find(({ code }) => NEEDS_ACTION.has(code.replace(/^(document|reference)_/, "")))?.message ?? null;
}

/** What is still missing, in a recruiter's words and in the order of the records. */
function waitsOf(
  facts: Facts,
  documents: readonly DocumentRecord[],
  references: readonly ReferenceRecord[],
  { required }: ReferenceRequirements,
): WaitingOn[] {
  const { id, email, outreach } = facts;
  const { opted_out, recipients } = outreach;
  const waits: WaitingOn[] = [];
  const wait = (code: string, message: string) => waits.push({ code, subject: id, message });
  const name = nameOf(facts)?.trim() || "The candidate";
  if (facts.started_at === null) wait("not_started", `${name} has not been started`);
  if (email !== null && recipients.some(({ to, bounced }) => to === TO_CANDIDATE && bounced === email))
    wait("candidate_bounced", `${name} cannot be reached: the message bounced`);
  if (email !== null && hasOptedOut(opted_out, email)) wait("candidate_opted_out", `${name} does not want messages`);
  waits.push(...documents.flatMap(waitForDocument));
  waits.push(...references.flatMap((reference) => waitForReference(reference, opted_out)));
  const missing = required - references.length;
  if (missing === 1) wait("references_missing", "1 more reference is needed");
  if (missing > 1) wait("references_missing", `${missing} more references are needed`);
  return waits;
}

function waitForDocument({ id, name, state, rejection_reason }: DocumentRecord): WaitingOn[] {
  const what = DOCUMENT_WAITS[state];
  if (what === undefined) return [];
  const why = state === "rejected" && rejection_reason !== null ? `: ${rejection_reason}` : "";
  return [{ code: `document_${state}`, subject: id, message: `Document "${name}" ${what}${why}` }];
}

function waitForReference({ id, name, email, state }: ReferenceRecord, optedOut: readonly string[]): WaitingOn[] {
  const waits: WaitingOn[] = [];
  const wait = (code: string, message: string) => waits.push({ code, subject: id, message });
  const referee = name?.trim() || email || "A referee without a name";
  const unanswered = state === "not_requested" || state === "requested";
  if (unanswered && email === null) wait("reference_without_email", `${referee} has no email address`);
  if ((unanswered || state === "unresponsive") && email !== null && hasOptedOut(optedOut, email))
    wait("reference_opted_out", `${referee} does not want messages`);
  const what = REFERENCE_WAITS[state];
  if (what !== undefined) wait(`reference_${state}`, `${referee} ${what}`);
  return waits;
}

/** Returns a candidate's name, in whichever fields it is. */
export function nameOf(of: Pick<CandidateRecord, "name" | "first_name" | "last_name">): string | null {
  return of.name ?? ([of.first_name, of.last_name].filter(Boolean).join(" ") || null);
}

/** Returns the earliest expires_on of the accepted documents, or null if none of them expires. */
export function nextExpiry(documents: readonly Expiring[]): string | null {
  const days = documents.flatMap(({ state, expires_on }) =>
    expires(state) && expires_on !== null ? [expires_on] : [],
  );
  return days.toSorted()[0] ?? null;
}
