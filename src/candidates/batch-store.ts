import { timestamp } from "../infra/clock.ts";
import { isDuplicateKey, type Mongo } from "../infra/mongo.ts";
import { Problem } from "../problems.ts";
import type { Dated, Found } from "./erasure.ts";
import { type FeedClock, positionOf, type Reservation } from "./feed-clock.ts";
import { expired } from "./moves.ts";
import { addedAddresses, addressesOf, noMail, optedOut, type Reminders } from "./outreach.ts";
import type { CandidateReader } from "./reader.ts";
import type { HistoryStore } from "./history-store.ts";
import { type Author, type CandidateRecord, type Draft, service } from "./record.ts";
import type { ReferenceIndexStore } from "./reference-index-store.ts";
import { firstVersion, nextRecord } from "./version.ts";
import type { WritesInFlight } from "./writes-in-flight.ts";

/** One candidate as it was read, undefined if it is new, and what it becomes. */
export interface Change {
  readonly before: Found | undefined;
  readonly after: Found;
}

/** A candidate to insert, or one as it was read and what it becomes. */
export type Write = { readonly draft: Draft } | { readonly before: CandidateRecord; readonly after: CandidateRecord };

interface Dependencies {
  readonly mongo: Mongo;
  readonly reader: CandidateReader;
  readonly references: ReferenceIndexStore;
  readonly reminders: Reminders;
  readonly feedClock: FeedClock;
  readonly inFlight: WritesInFlight;
  readonly history: HistoryStore;
  readonly dated: Dated;
  /** As CandidateStore writes. */
  readonly commit: (changes: readonly Change[], position: Reservation) => Promise<number>;
}

export type CandidateBatches = ReturnType<typeof candidateBatches>;

/** Writes several candidates at once. Every function may throw problem store_unavailable. */
export function candidateBatches(dependencies: Dependencies) {
  const { mongo, reader, references, reminders, feedClock, inFlight, history, dated, commit } = dependencies;

  /**
   * Inserts and changes different candidates of one account in one write, which is encoded in one go. Returns each as it was
   * written; undefined if it was refused, or if another write came in between: write that one alone.
   */
  async function write(author: Author, all: readonly Write[]): Promise<(CandidateRecord | undefined)[]> {
    if (all.length === 0) return [];
    const { accountId, by } = author;
    const writes: Write[] = [];
    for (const each of all) writes.push("draft" in each ? each : { ...each, after: await history.roomy(each.after) });
    const added = writes.map(additionsOf);
    const plan = await reminders.plannerOf(accountId);
    const emails = [...new Set(added.flatMap((each) => each.emails))];
    const stopped = new Set(emails.length === 0 ? [] : await reminders.optedOut(accountId, emails));
    const stoppedOf = (n: number) => added[n]?.emails.filter((email) => stopped.has(email)) ?? [];
    await references.add(added.flatMap((each) => each.references));
    const latest = writes.map((each) => ("draft" in each ? 0 : Date.parse(each.before.updated_at)));
    const position = feedClock.reserve(Math.max(...latest));
    const changes = writes.map((each, n) => {
      if ("draft" in each)
        return { before: undefined, after: dated(firstVersion(each.draft, by, position.at, stoppedOf(n))) };
      const after = nextRecord(each.before, optedOut(each.after, stoppedOf(n)), by, position, plan);
      return { before: each.before, after: dated(after) };
    });
    if (await areWritten(changes, position)) return changes.map(({ after }) => after);
    const ids = changes.map(({ after }) => after.id);
    const positions = new Set(await reader.positionsOf(accountId, ids));
    return changes.map(({ after }) => (positions.has(positionOf(position.at, after.id)) ? after : undefined));
  }

  /** Returns false if not all were written. */
  async function areWritten(changes: readonly Change[], position: Reservation): Promise<boolean> {
    try {
      return (await committed(changes, position)) === changes.length;
    } catch (error) {
      if (isDuplicateKey(error) || (error instanceof Problem && error.code === "payload_too_large")) return false;
      throw error;
    }
  }

  /**
   * Expires the accepted documents of up to 100 candidates whose expires_on is before `today`, the most overdue first, in one
   * write: many expire at the same midnight. Skips a candidate that another write changes in between: the next call finds
   * it again. Returns the number of changed candidates.
   */
  async function expire(today: string): Promise<number> {
    const due: CandidateRecord[] = [];
    for (const record of await reader.expiring(today, 100)) due.push(await history.roomy(record));
    if (due.length === 0) return 0;
    const accounts = [...new Set(due.map(({ accountId }) => accountId))];
    const plans = new Map(await Promise.all(accounts.map(async (id) => [id, await reminders.plannerOf(id)] as const)));
    const position = feedClock.reserve(Math.max(...due.map(({ updated_at }) => Date.parse(updated_at))));
    const changes = due.map((before) => {
      const edited = expired(before, today, timestamp(position.now));
      const { by } = service(before.accountId, "expiries");
      const after = nextRecord(before, edited, by, position, plans.get(before.accountId) ?? noMail);
      return { before, after: dated(after) };
    });
    return committed(changes, position);
  }

  /** Writes the candidates again later, at a new position, if the write was late: a reader may have passed the position. */
  async function committed(changes: readonly Change[], position: Reservation): Promise<number> {
    const count = await commit(changes, position);
    if (mongo.isLate(position.reservedAt)) for (const { after } of changes) inFlight.settleLater(after, position);
    return count;
  }

  return { write, expire };
}

/** Returns the references and addresses that a write adds. */
function additionsOf(write: Write) {
  const [before, after] = "draft" in write ? [undefined, write.draft] : [write.before, write.after];
  const known = new Set(before?.references.map(({ id }) => id));
  const references = after.references.filter(({ id }) => !known.has(id));
  return {
    emails: before === undefined ? addressesOf(after) : addedAddresses(before, after),
    references: references.map(({ id }) => ({ accountId: after.accountId, candidateId: after.id, id })),
  };
}
