import { BoundedCollection, equals } from "../infra/bounded-collection.ts";
import { type Clock, timestamp } from "../infra/clock.ts";
import { compareAndSet, KeyedQueue } from "../infra/compare-and-set.ts";
import { grouped } from "../infra/grouped.ts";
import type { Indexed } from "../infra/indexes.ts";
import type { Mongo } from "../infra/mongo.ts";
import { type AuditEvent, type AuditRecord, chained } from "./entry.ts";

/** As it is stored. `ms` is `at` in milliseconds since the epoch. Entries of 0.1.0 lack everything that is optional. */
type Stored = Partial<AuditRecord> &
  Omit<AuditRecord, "details" | "of" | "outcome" | "reason" | "seq" | "previous" | "hash"> & {
    readonly ms?: number | null;
  };

/** How a change ended. */
type End = Pick<AuditRecord, "at" | "outcome" | "reason">;

/** A place in the order of entries. */
export type AuditPosition = Pick<AuditRecord, "at" | "account" | "seq" | "_id">;

/** Which entries to read: of one account or of all, from one time (RFC 3339 with milliseconds) to before another. */
export interface AuditQuery {
  readonly account?: string | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly after?: AuditPosition | undefined;
}

/** Names the last entry that is in the log (AUDIT_LOG). */
const LOGGED = "audit_logged";
const PAGE = 250;

/**
 * The audit in MongoDB, append-only. The entries of an account form a chain: a unique index lets one entry follow another, so a
 * process that loses the race reads the head again. Every method may throw problem `store_unavailable`.
 */
export class AuditStore implements Indexed {
  readonly indexes = [
    {
      collection: "audit",
      indexes: [
        { key: { account: 1, seq: 1 }, unique: true, partialFilterExpression: { seq: { $gt: 0 } } },
        { key: { account: 1, ms: 1, seq: 1 } },
        { key: { ms: 1, account: 1, seq: 1 } },
      ],
    },
  ];
  readonly #records: BoundedCollection<Stored>;
  /** The ends of changes that processes of 0.1.0 make, with the ids of their entries. */
  readonly #outcomes: BoundedCollection<End & { _id: string }>;
  readonly #meta: BoundedCollection<{ _id: typeof LOGGED; last: AuditPosition }>;
  readonly #queue = new KeyedQueue();
  readonly #clock: Clock;

  constructor(mongo: Mongo, clock: Clock) {
    this.#records = new BoundedCollection(mongo, "audit");
    this.#outcomes = new BoundedCollection(mongo, "audit_outcomes");
    this.#meta = new BoundedCollection(mongo, "meta");
    this.#clock = clock;
  }

  /** Appends entries, in their order. Leaves out those whose id exists. Two round trips for each account. */
  async append(events: readonly AuditEvent[]): Promise<void> {
    for (const [account, own] of grouped(events, (event) => event.account))
      await this.#queue.run(account, () => compareAndSet("the audit", () => this.#append(account, own)));
  }

  async #append(account: string, events: readonly AuditEvent[]): Promise<true | undefined> {
    const chain = { account: equals(account), seq: { $gt: 0 } };
    const [head, known] = await Promise.all([
      this.#records.findOne(chain, { sort: { seq: -1 } }),
      this.#records.find({ _id: { $in: events.map(({ _id }) => _id) } }, { projection: { _id: 1 } }),
    ]);
    const ids = new Set(known.map(({ _id }) => _id));
    const now = timestamp(this.#clock.now());
    const added: (AuditRecord & Stored)[] = [];
    let last = head === null ? undefined : complete(head);
    for (const event of events.filter(({ _id }) => !ids.has(_id))) {
      last = chained(event, last, now);
      added.push({ ...last, ms: Date.parse(last.at) });
    }
    return added.length === 0 || (await this.#records.insertInOrder(added)) || undefined;
  }

  /** Returns changes, deletions and reads, newest first, with their ends. One without an end is running or was interrupted. */
  async newest(limit: number, account?: string) {
    const filter = account === undefined ? { of: null } : { account: equals(account), of: null };
    await this.#addTimes();
    const records = (await this.#records.find(filter, { sort: sortOf(account, -1), limit })).map(complete);
    const ends = await this.#endsOf(records.filter(({ outcome }) => outcome === null));
    return records.map((record) => ({ record, end: record.outcome === null ? ends.get(record._id) : record }));
  }

  /** Yields entries, oldest first. Those of the last seconds may not have appeared yet: see `settledEntries`. */
  async *entries({ account, since, until, after }: AuditQuery = {}): AsyncGenerator<AuditRecord> {
    const own = account === undefined ? {} : { account: equals(account) };
    const sort = sortOf(account, 1);
    const end = until === undefined ? {} : { $lt: Date.parse(until) };
    let from = Date.parse(after?.at ?? since ?? timestamp(0));
    /** Ids of entries of the millisecond `from`, with which the next page begins. */
    const yielded = new Set<string>();
    await this.#addTimes();
    for (let isMore = true; isMore;) {
      const limit = PAGE + yielded.size;
      const found = await this.#records.find({ ...own, ms: { $gte: from, ...end } }, { sort, limit });
      isMore = found.length === limit;
      const ends = await this.#endsOf(found.filter(({ outcome, seq }) => outcome === undefined && seq === undefined));
      for (const stored of found) {
        if (stored.ms !== from) yielded.clear();
        from = stored.ms ?? from;
        if (yielded.has(stored._id)) continue;
        yielded.add(stored._id);
        const record = complete({ ...ends.get(stored._id), ...stored });
        if (after === undefined || isAfter(record, after)) yield record;
      }
    }
  }

  /** Adds `ms` to entries of 0.1.0. Entries are sorted by it, because the stand-in compares timestamps only to the second. */
  async #addTimes(): Promise<void> {
    for (;;) {
      const found = await this.#records.find({ ms: null }, { projection: { at: 1 }, limit: PAGE });
      if (found.length === 0) return;
      const update = ({ at }: Stored) => ({ $set: { ms: Date.parse(at) } });
      const writes = found.map((stored) => ({ updateOne: { filter: { _id: stored._id }, update: update(stored) } }));
      await this.#records.write("update", writes);
    }
  }

  async find(id: string): Promise<AuditRecord | undefined> {
    const stored = await this.#records.findOne({ _id: id });
    return stored === null ? undefined : complete(stored);
  }

  /** Returns the last entry that is in the log. If there is none, notes this one and returns it. */
  async logged(first: AuditPosition): Promise<AuditPosition> {
    const found = await this.#meta.findOne({ _id: LOGGED });
    if (found === null) await this.#meta.insertOne({ _id: LOGGED, last: first });
    return found?.last ?? first;
  }

  async setLogged({ at, account, seq, _id }: AuditPosition): Promise<void> {
    await this.#meta.updateOne({ _id: LOGGED }, { $set: { last: { at, account, seq, _id } } });
  }

  /** Reads the ends of entries, by the ids of these. */
  async #endsOf(records: readonly Stored[]): Promise<Map<string | null, End>> {
    if (records.length === 0) return new Map();
    const ids = records.map(({ _id }) => _id);
    const [ends, outcomes] = await Promise.all([
      this.#records.find({ _id: { $in: ids.map(endIdOf) } }),
      this.#outcomes.find({ _id: { $in: ids } }),
    ]);
    const found = new Map<string | null, End>(outcomes.map((outcome) => [outcome._id, outcome]));
    for (const end of ends.map(complete)) found.set(end.of, end);
    return found;
  }
}

/** Returns the id of the entry that ends a change: a change has at most one. */
export function endIdOf(id: string): string {
  return `${id}_end`;
}

/** `details` may be missing in a damaged entry: its hash then does not fit. */
function complete({ ms: _ms, details = {}, ...stored }: Stored): AuditRecord {
  // Entries of 0.1.0 have no `of`. One that has it, and no `seq`, was tampered with: no chain has a 0.
  const seq = stored.of === undefined ? null : 0;
  return { details, of: null, outcome: null, reason: null, seq, previous: null, hash: null, ...stored };
}

/** The order of entries, as an index has it. In an account it is that of the chain. Entries of 0.1.0 have no `seq`, and come first. */
function sortOf(account: string | undefined, way: 1 | -1): Record<string, 1 | -1> {
  return account === undefined ? { ms: way, account: way, seq: way } : { ms: way, seq: way };
}

/** Among entries of 0.1.0 of one account and time there is no order: others than this one count as after it. */
function isAfter(record: AuditPosition, { at, account, seq, _id }: AuditPosition): boolean {
  if (record.at !== at) return record.at > at;
  if (record.account !== account) return record.account > account;
  return record.seq === seq ? record._id !== _id : (record.seq ?? 0) > (seq ?? 0);
}
