import type { Document } from "mongodb";
import type { Cursor } from "../../src/candidates/feed.ts";

/** A row of the feed as the store has it. `change` is its place. */
export interface TracedRow {
  readonly change: string;
  readonly version: number;
  readonly deleted: boolean;
}

/** A row of a page, as far as the mirror compares it. */
export interface ReadRow {
  readonly id: string;
  readonly version: number;
}

/** A write that the store has answered. */
export interface WriteEvent {
  readonly type: "write";
  readonly account: string;
  /** The version that it names. 0: an insert. */
  readonly before: number;
  readonly row: TracedRow;
  readonly applied: boolean;
}

/** A page that the store has answered. `read` is what the traced reader got for it from the API, if it did. */
export interface PageEvent {
  readonly type: "page";
  readonly account: string;
  readonly now: number;
  readonly after: string;
  readonly limit: number;
  readonly rows: readonly TracedRow[];
  readonly more: boolean;
  read?: { readonly from: Cursor; readonly to: Cursor; readonly rows: readonly ReadRow[]; readonly more: boolean };
}

/** A round's look at the marks of all replicas. */
export interface MarksEvent {
  readonly type: "marks";
  readonly now: number;
  readonly until: readonly number[];
}

/** The reader has come to the end, and nothing is under way. */
export interface EndEvent {
  readonly type: "end";
  /** Whether the reader went on polling until its cursor had passed every row. */
  readonly passed: boolean;
}

export type FeedEvent = WriteEvent | PageEvent | MarksEvent | EndEvent;

/** The first line of a trace's file. */
export interface FeedConstants {
  /** STORE_TIMEOUT_MS and the clock skew, in milliseconds. */
  readonly lagMs: number;
}

/** A trace of one account. */
export interface FeedTrace {
  readonly constants: FeedConstants;
  readonly events: readonly FeedEvent[];
}

/** Whether a command is one that a trace shows. The recorder passes these on one after the other. */
export function isTraced(command: Document): boolean {
  const { insert, update, find } = command;
  return insert === "candidates" || isReplacement(command) || isPage(command) || [update, find].includes("feed_marks");
}

/** A replacement of one candidate. The end of an erasure is none: it changes no row of the feed. */
function isReplacement({ update, updates }: Document): boolean {
  return update === "candidates" && (updates as Document[]).every(({ u }) => (u as Document)["change"] !== undefined);
}

/** A page without a filter. A look at its places alone (If-None-Match) is none: it does not tell tombstones apart. */
function isPage({ find, sort, filter, projection }: Document): boolean {
  const { state, external_id } = (filter ?? {}) as Document;
  const isFeed = find === "candidates" && (sort as Document | undefined)?.["change"] === 1;
  return isFeed && state === undefined && external_id === undefined && (projection as Document)["deleted"] === 1;
}

/** Returns the account that a traced command is for; undefined for the marks. */
export function accountOf({ documents, updates, filter }: Document): string | undefined {
  const [stored] = (documents ?? []) as Document[];
  const [update] = (updates ?? []) as { q: Document; u: Document }[];
  const asked = ((filter ?? {}) as Document)["account"] as { $eq: string } | undefined;
  return (stored?.["account"] ?? update?.u["account"] ?? asked?.$eq) as string | undefined;
}

/** Returns the events of a command that the store has answered. */
export function eventsOf(command: Document, answer: Document, now: number): FeedEvent[] {
  if (command["insert"] === "candidates") {
    const [stored] = command["documents"] as Document[];
    return [writeOf(stored!, 0, answer)];
  }
  if (command["update"] === "candidates") {
    const updates = command["updates"] as { q: Document; u: Document }[];
    if (updates.length > 1) throw new Error("A trace has no bulk writes: the answer does not tell which ones applied.");
    return updates.map(({ q, u }) => writeOf(u, q["version"] as number | undefined, answer));
  }
  const { firstBatch = [] } = (answer["cursor"] ?? {}) as { firstBatch?: Document[] };
  if (command["find"] === "feed_marks")
    return [{ type: "marks", now, until: firstBatch.map((mark) => mark["complete_until"] as number) }];
  if (command["find"] !== "candidates" || answer["ok"] !== 1) return [];
  const { account, change } = command["filter"] as { account: { $eq: string }; change: { $gt: string } };
  const limit = Number(command["limit"]) - 1;
  const rows = firstBatch.slice(0, limit).map(rowOf);
  return [{ type: "page", account: account.$eq, now, after: change.$gt, limit, rows, more: firstBatch.length > limit }];
}

/** @param before undefined if the write names no version, which no rule of the feed permits: it is then traced as -1. */
function writeOf(stored: Document, before: number | undefined, answer: Document): WriteEvent {
  const account = stored["account"] as string;
  return { type: "write", account, before: before ?? -1, row: rowOf(stored), applied: answer["n"] === 1 };
}

function rowOf(stored: Document): TracedRow {
  const { change, version, deleted } = stored as { change: string; version: number; deleted?: true };
  return { change, version, deleted: deleted === true };
}
