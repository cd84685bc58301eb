import { setTimeout } from "node:timers/promises";
import type { Collection, Filter } from "mongodb";
import { timestamp, type Clock } from "../infra/clock.ts";
import { isDuplicateKey, isStoreDown, type Mongo, within } from "../infra/mongo.ts";
import { Lines } from "../infra/keyed-queue.ts";
import { problem } from "../problems.ts";
import type { FeedPage, FeedQuery, FeedRow } from "./feed.ts";
import type { CandidateRecord } from "./record.ts";
import { ReferenceIndexStore } from "./reference-index-store.ts";
import { derive } from "./state.ts";
import { decode, encode, packFacts, type Stored } from "./stored.ts";
import { Unsettled } from "./unsettled.ts";

/** A race lost so often in a row is no race any more but a fault. */
const MOST_ATTEMPTS = 50;
/** The wait after a lost race grows by up to this much each time, in milliseconds. */
const JITTER_MS = 5;

/** What may be written: all but what the store itself gives at each write. */
export type Draft = Omit<CandidateRecord, "version" | "state" | "created_at" | "updated_at">;

/** A page of the feed holds no more than this, however many rows were asked for, but always one. */
const MAX_PAGE_BYTES = 8 * 1024 * 1024;

export class CandidateStore {
  readonly #mongo: Mongo;
  readonly #clock: Clock;
  readonly #candidates: Collection<Stored>;
  readonly #references: ReferenceIndexStore;
  readonly #lines = new Lines(isStoreDown);
  readonly #unsettled = new Unsettled((account, id) => this.#renew(account, id));

  constructor(mongo: Mongo, clock: Clock) {
    this.#mongo = mongo;
    this.#clock = clock;
    this.#candidates = mongo.db.collection("candidates");
    this.#references = new ReferenceIndexStore(mongo);
  }

  /** Makes the indexes; harmless where they are already. */
  async prepare(): Promise<void> {
    await this.#candidates.createIndex({ account: 1, change: 1 });
    await this.#candidates.createIndex({ account: 1, state: 1, change: 1 });
    await this.#candidates.createIndex(
      { account: 1, external_id: 1 },
      { unique: true, partialFilterExpression: { external_id: { $gt: "" } } },
    );
    // The one index that does not begin with the account: the sweep is for all of them.
    await this.#candidates.createIndex({ next_expiry: 1 }, { partialFilterExpression: { next_expiry: { $gt: "" } } });
  }

  /**
   * Keeps a new candidate: its references' look-up entries first, so that a crash between leaves only entries without a
   * candidate, which count as not there. Two round trips with references, one without. A candidate that is there already
   * under its id is given as it is.
   * @throws problems external_id_taken, payload_too_large, store_unavailable.
   */
  async insert(draft: Draft): Promise<CandidateRecord> {
    await this.#references.add(draft, draft.references);
    const placedAt = performance.now();
    const { record, stored } = this.#first(draft);
    try {
      await this.#mongo.bounded((signal) => this.#candidates.insertOne(stored, within(signal)));
    } catch (error) {
      if (!isDuplicateKey(error)) {
        this.#unsettled.note(draft);
        throw error;
      }
      // The same id means that an interrupted try of this very request had come so far: it is done.
      const own = await this.find(draft.account, draft.id);
      if (own !== null) return own;
      throw await this.#externalIdTaken(draft, error);
    }
    return this.#inPlace(record, placedAt);
  }

  /** What `insert` would keep or be refused, with nothing kept. One round trip with an external_id, else none. @throws as `insert` does. */
  async rehearse(draft: Draft): Promise<CandidateRecord> {
    const { record } = this.#first(draft);
    const taken = await this.#externalIdTaken(draft, undefined);
    if (taken !== undefined) throw taken;
    return record;
  }

  #first(draft: Draft): { record: CandidateRecord; stored: Stored } {
    const now = this.#clock.now();
    const record = { ...draft, version: 1, ...this.#stampOf(draft, now), created_at: timestamp(now) };
    return { record, stored: encode(record, now) };
  }

  /**
   * Makes one change to a candidate: reads it, edits it, and writes it over the version that was read; where another write
   * came between, once more from the start. Two round trips, two more for each race that was lost.
   * @param edit gives the candidate as it should be, or the record it was given where there is nothing to do; what it throws
   * ends the change. It may be called more than once.
   * @throws problems not_found, external_id_taken, payload_too_large, store_unavailable.
   */
  change(account: string, id: string, edit: (record: CandidateRecord, now: string) => CandidateRecord): Promise<CandidateRecord> {
    // Writers of one candidate in this process stand in line, so that they race only those of other replicas.
    return this.#lines.run(`${account} ${id}`, () => this.#tryToChange(account, id, edit));
  }

  async #tryToChange(account: string, id: string, edit: (record: CandidateRecord, now: string) => CandidateRecord): Promise<CandidateRecord> {
    for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt++) {
      const changed = await this.#tryOnce(account, id, edit);
      if (changed !== undefined) return changed;
      await setTimeout(Math.random() * JITTER_MS * attempt);
    }
    throw problem("store_unavailable", "Too many writers at once on one candidate. Try again shortly.", { headers: { "Retry-After": "1" } });
  }

  /** Undefined where another write came first. */
  async #tryOnce(account: string, id: string, edit: (record: CandidateRecord, now: string) => CandidateRecord): Promise<CandidateRecord | undefined> {
    const before = await this.get(account, id);
    let placedAt = performance.now();
    // A change's place is after the one it changes, however the clocks stand.
    const now = Math.max(this.#clock.now(), Date.parse(before.updated_at) + 1);
    const edited = edit(before, timestamp(now));
    if (edited === before) return before;
    const added = edited.references.filter(({ id }) => !before.references.some((reference) => reference.id === id));
    let at = now;
    if (added.length > 0) {
      await this.#references.add(edited, added);
      // The feed allows for the time that one write takes: the place is given when that begins.
      placedAt = performance.now();
      at = Math.max(now, this.#clock.now());
    }
    const record: CandidateRecord = {
      ...edited,
      version: before.version + 1,
      pack_version: before.pack_version + (packFacts(before) === packFacts(edited) ? 0 : 1),
      ...this.#stampOf(edited, at),
    };
    const stored = encode(record, at);
    try {
      const { matchedCount } = await this.#mongo.bounded((signal) =>
        this.#candidates.replaceOne({ _id: id, account, version: before.version }, stored, within(signal)),
      );
      if (matchedCount === 0) return undefined;
    } catch (error) {
      if (isDuplicateKey(error)) throw await this.#externalIdTaken(record, error);
      this.#unsettled.note(record);
      throw error;
    }
    return this.#inPlace(record, placedAt);
  }

  /**
   * A record just written, in a place that the feed's readers have not passed. They wait for as long as a write may take; one
   * that took longer from place to answer, as in a process that stood still between the two, is written once more.
   * @param placedAt `performance.now()` before it was given its place.
   */
  async #inPlace(record: CandidateRecord, placedAt: number): Promise<CandidateRecord> {
    if (performance.now() - placedAt <= this.#mongo.timeoutMs) return record;
    try {
      return await this.#tryToChange(record.account, record.id, copy);
    } catch (error) {
      this.#unsettled.note(record);
      throw error;
    }
  }

  /** Writes a candidate as it is, with a new place in the feed. False where there is none. @throws problem store_unavailable */
  async #renew(account: string, id: string): Promise<boolean> {
    if ((await this.find(account, id)) === null) return false;
    await this.change(account, id, copy);
    return true;
  }

  /** One candidate of the account. @throws problem not_found, the same for one that is another account's. */
  async get(account: string, id: string): Promise<CandidateRecord> {
    const record = await this.find(account, id);
    if (record === null) throw problem("not_found", `There is no candidate ${JSON.stringify(id.slice(0, 100))}.`);
    return record;
  }

  /** Candidates of all accounts with an accepted document whose expires_on is before that date, the most overdue first. */
  async expiring(before: string, limit: number): Promise<{ account: string; id: string }[]> {
    const overdue = { next_expiry: { $gt: "", $lt: before } }; // both bounds: MongoDB then sees that the partial index will do
    const found = await this.#mongo.bounded((signal) =>
      this.#candidates.find(overdue, { signal, projection: { account: 1 } }).sort({ next_expiry: 1 }).limit(limit).toArray(),
    );
    return found.map(({ _id, account }) => ({ account, id: _id }));
  }

  /** The candidate that a reference is of, or undefined: also where it is another account's. One round trip. */
  candidateOfReference(account: string, referenceId: string): Promise<string | undefined> {
    return this.#references.candidateOf(account, referenceId);
  }

  /** One candidate of the account, or null: also where it is another account's. */
  async find(account: string, id: string): Promise<CandidateRecord | null> {
    const stored = await this.#mongo.bounded((signal) => this.#candidates.findOne({ _id: id, account }, { signal }));
    return stored === null ? null : decode(stored);
  }

  /**
   * A page of the account's feed, oldest change first: up to `limit` rows, fewer where they get too big for one answer.
   * One index range in one round trip, whatever the number of candidates.
   */
  feed({ account, after, state, external_id, limit }: FeedQuery): Promise<FeedPage> {
    const filter: Filter<Stored> = {
      account,
      change: { $gt: after },
      ...(state === undefined ? {} : { state }),
      ...(external_id === undefined ? {} : { external_id }),
    };
    return this.#mongo.bounded(async (signal) => {
      const rows: FeedRow[] = [];
      let bytes = 0;
      for await (const stored of this.#candidates.find(filter, { signal }).sort({ change: 1 }).limit(limit + 1)) {
        bytes += stored.size;
        if (rows.length === limit || (rows.length > 0 && bytes > MAX_PAGE_BYTES)) return { rows, more: true };
        rows.push({ record: decode(stored), change: stored.change });
      }
      return { rows, more: false };
    });
  }

  #stampOf(draft: Draft, now: number): Pick<CandidateRecord, "state" | "updated_at"> {
    return { state: derive(draft).state, updated_at: timestamp(now) };
  }

  async #externalIdTaken({ account, external_id }: Draft, cause: unknown): Promise<unknown> {
    if (external_id === null) return cause;
    const holder = await this.#mongo.bounded((signal) =>
      this.#candidates.findOne({ account, external_id }, { projection: { _id: 1 }, signal }),
    );
    if (holder === null) return cause;
    return problem("external_id_taken", `Candidate ${holder._id} has this external_id already.`, {
      members: { candidate_id: holder._id },
      errors: [{ pointer: "/external_id", detail: "must be one that no other candidate of the account has" }],
    });
  }
}

/** The edit that changes nothing but the place in the feed. */
function copy(record: CandidateRecord): CandidateRecord {
  return { ...record };
}
