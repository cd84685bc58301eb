import { isDeepStrictEqual } from "node:util";
import type { CandidateRecord, Decision, DocumentRecord, HistoryRecord, ReferenceRecord } from "./record.ts";
import type { By, HistoryAction, HistoryEntry } from "./history-schema.ts";
import { isTombstone, type Found } from "./erasure.ts";
import { words } from "../schema/words.ts";

/** Who changed what of a candidate, and who decided. Pure: each write notes it in the record that it writes. */

/** One entry, without its time and author. `from` and `to` are states or caps. */
interface Changed {
  readonly action: HistoryAction;
  readonly subject: string;
  readonly from?: string | number | null;
  readonly to?: string | number | null;
  /** Names of changed fields. Never their values. */
  readonly fields?: readonly string[];
}

type Noted = Changed & Pick<HistoryEntry, "at" | "by">;

/** A chunk of entries outside the record has this many. */
export const CHUNK = 100;
/** A record with more entries than this loses its oldest chunks before the next write, which adds at most 260. */
const MAX_KEPT = 240;

export const NO_HISTORY: HistoryRecord = { moved: 0, count: 0, lines: "" };

/** The states in which nothing has been decided yet. */
const UNDECIDED: readonly string[] = ["pending", "not_requested", "requested"];

export function isDecided(state: string): boolean {
  return !UNDECIDED.includes(state);
}

const NAMES = words("external_id name first_name last_name email language phone job_title start_date");
const CANDIDATE_FIELDS = [...NAMES, ...words("metadata references_required outreach_enabled withdrawal_reason")];
const CAPS = words("docs_chase_attempts reference_chase_attempts");
const DOCUMENT_FIELDS = words("name required rejection_reason expires_on metadata");
const REFERENCE_FIELDS = words("name email phone company job_title relationship language response metadata");

/** Returns the record with an entry for each change, and the decisions. @param before undefined if the candidate is new. */
export function withHistory(before: CandidateRecord | undefined, { stated, ...after }: CandidateRecord, by: By) {
  const { updated_at: at, history: known } = after;
  const created = { action: "created", subject: after.id, to: after.state } as const;
  const changes: Changed[] = before === undefined ? [created] : [...changesBetween(before, after)];
  if (stated !== undefined) {
    const at = changes.findIndex(({ subject }) => subject === stated.id);
    const own = changes[at] ?? { action: "updated", subject: stated.id };
    changes.splice(at < 0 ? changes.length : at, 1, { ...own, fields: [...(own.fields ?? []), "decided_by"] });
  }
  if (changes.length === 0) return after;
  const lines = changes.map((change) => `${encoded({ at, by, ...change })}\n`).join("");
  const history = { ...known, count: known.count + changes.length, lines: known.lines + lines };
  return { ...after, history, decisions: decisionsAfter(before, after, { at, by }, stated) };
}

function* changesBetween(before: CandidateRecord, after: CandidateRecord): Generator<Changed> {
  const subject = after.id;
  const fields = changed(CANDIDATE_FIELDS, before, after);
  const [from, to] = [before.state, after.state];
  const move = movedBy(before, after);
  if (move !== undefined) yield { action: move, subject, from, to, fields };
  else if (fields.length > 0) yield { action: "updated", subject, fields };
  for (const cap of changed(CAPS, before, after))
    yield { action: "updated", subject, from: before[cap], to: after[cap], fields: [cap] };
  if (!isDeepStrictEqual(before.hold, after.hold))
    yield { action: after.hold === null ? "hold_lifted" : "hold_set", subject };
  yield* partChanges(before.documents, after.documents, DOCUMENT_FIELDS);
  yield* partChanges(before.references, after.references, REFERENCE_FIELDS);
  for (const { to: recipient, last } of after.outreach.recipients) {
    const known = before.outreach.recipients.find((each) => each.to === recipient)?.last;
    if (last && last.message_id !== known?.message_id)
      yield { action: "reminder_sent", subject: recipient.startsWith("ref_") ? recipient : subject };
  }
  if (move === undefined && from !== to) yield { action: "state_changed", subject, from, to };
}

function movedBy(before: CandidateRecord, after: CandidateRecord): HistoryAction | undefined {
  if (after.withdrawn !== before.withdrawn) return after.withdrawn ? "withdrawn" : "reinstated";
  return after.started_at === before.started_at ? undefined : "started";
}

type Part = DocumentRecord | ReferenceRecord;
type Names<P> = readonly (keyof P & string)[];

/** Parts that a write leaves alone are the same objects. */
function* partChanges<P extends Part>(before: readonly P[], after: readonly P[], names: Names<P>): Generator<Changed> {
  if (before === after) return;
  const known = new Map(before.map((part) => [part.id, part]));
  for (const part of after) {
    const was = known.get(part.id);
    known.delete(part.id);
    if (was === undefined) yield { action: "added", subject: part.id, to: part.state };
    else if (was !== part) yield* changesOfPart(was, part, names);
  }
  for (const { id: subject, state: from, ...gone } of known.values()) {
    if ("content" in gone && gone.content !== null) yield { action: "content_removed", subject };
    yield { action: "removed", subject, from };
  }
}

function* changesOfPart<P extends Part>(was: P, part: P, names: Names<P>): Generator<Changed> {
  const { id: subject, state: to } = part;
  if ("content" in part && "content" in was && part.content?.file_id !== was.content?.file_id)
    yield { action: "content_stored", subject };
  const fields = changed(names, was, part);
  if (was.state !== to) yield { action: "state_changed", subject, from: was.state, to, fields };
  else if (fields.length > 0) yield { action: "updated", subject, fields };
}

function changed<T, Name extends keyof T & string>(names: readonly Name[], before: T, after: T): Name[] {
  return names.filter((name) => before[name] !== after[name] && !isDeepStrictEqual(before[name], after[name]));
}

function decisionsAfter(
  before: CandidateRecord | undefined,
  after: CandidateRecord,
  made: Pick<Decision, "at" | "by">,
  stated: CandidateRecord["stated"],
): CandidateRecord["decisions"] {
  if (!stated && before?.documents === after.documents && before.references === after.references)
    return after.decisions;
  const known = new Map([...(before?.documents ?? []), ...(before?.references ?? [])].map((part) => [part.id, part]));
  const decisions = [...after.documents, ...after.references].flatMap((part) => {
    const { id, state } = part;
    const isMoved = known.get(id)?.state !== state;
    const moved = isMoved ? { state, ...made, decided_by: null } : after.decisions[id];
    const decision = stated?.id === id ? { state, ...made, ...moved, decided_by: stated.decided_by } : moved;
    return decision && isDecided(state) ? [[id, decision] as const] : [];
  });
  return Object.fromEntries(decisions);
}

/** Compact: a record has up to 500. */
function encoded({ at, by, action, subject, from = null, to = null, fields = [] }: Noted): string {
  return JSON.stringify([at, by.type, by.id, action, subject, from, to, fields]);
}

type Line = [string, By["type"], string, HistoryAction, string, HistoryEntry["from"], HistoryEntry["to"], string[]];

/** Parses lines. Keeps their order. */
export function entriesIn(lines: readonly string[]): HistoryEntry[] {
  return lines.map((line) => {
    const [at, type, id, action, subject, from, to, fields] = JSON.parse(line) as Line;
    return { at, by: { type, id }, action, subject, from, to, fields };
  });
}

/** Returns the lines of a text. Each ends with a line break. */
export function linesIn(text: string): string[] {
  return text.split("\n").slice(0, -1);
}

/** Returns the chunks that the record is to lose before it is written, and the record without them. */
export function withoutOldest<F extends Found>(found: F) {
  if (isTombstone(found) || found.history.count - found.history.moved <= MAX_KEPT) return undefined;
  const { moved, count, lines } = found.history;
  const all = linesIn(lines);
  const number = Math.floor((count - moved) / CHUNK) - 1;
  const chunks = Array.from({ length: number }, (_, n) => ({
    n: moved / CHUNK + n,
    lines: `${all.slice(n * CHUNK, (n + 1) * CHUNK).join("\n")}\n`,
  }));
  const kept = `${all.slice(number * CHUNK).join("\n")}\n`;
  const record = { ...found, history: { moved: moved + number * CHUNK, count, lines: kept } };
  return { chunks, record };
}
