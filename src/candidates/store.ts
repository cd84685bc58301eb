import type { Collection } from "mongodb";
import { timestamp, type Clock } from "../infra/clock.ts";
import { compareAndSet } from "../infra/compare-and-set.ts";
import { KeyedQueue } from "../infra/keyed-queue.ts";
import { isDuplicateKey, isStoreDown, type Mongo, within } from "../infra/mongo.ts";
import { problem } from "../problems.ts";
import { OpenWrites } from "./open-writes.ts";
import type { CandidateRecord, Draft } from "./record.ts";
import { CandidateReader } from "./reader.ts";
import { ReferenceIndexStore } from "./reference-index-store.ts";
import { derive } from "./state.ts";
import { encode, encodeTombstone, packFacts, type Stored } from "./stored.ts";
import { again, candidateDeleted, isTombstone, type Tombstone, tombstoneOf } from "./tombstone.ts";

/** Makes one change. Returns the changed candidate, or the same record if there is nothing to change. */
export type Edit = (record: CandidateRecord, now: string) => CandidateRecord;

/** Writes candidates to MongoDB, with the look-ups of their references. */
export class CandidateStore {
  readonly #mongo: Mongo;
  readonly #clock: Clock;
  readonly #candidates: Collection<Stored>;
  readonly reader: CandidateReader;
  readonly references: ReferenceIndexStore;
  readonly #queue = new KeyedQueue(isStoreDown);
  readonly openWrites = new OpenWrites((accountId, id) => this.#renew(accountId, id));

  constructor(mongo: Mongo, clock: Clock) {
    this.#mongo = mongo;
    this.#clock = clock;
    this.#candidates = mongo.db.collection("candidates");
    this.reader = new CandidateReader(mongo);
    this.references = new ReferenceIndexStore(mongo);
  }

  /** Creates the indexes. Safe to repeat. */
  prepare(): Promise<void> {
    return this.reader.prepare();
  }

  /**
   * Inserts a candidate. Writes the reference look-ups first: a crash in between leaves look-ups without a candidate,
   * and readers ignore those. Two round trips with references, one without. If the id exists, returns that candidate.
   * @throws problems external_id_taken, payload_too_large, store_unavailable.
   */
  async insert(draft: Draft): Promise<CandidateRecord> {
    await this.references.add(draft, draft.references);
    return compareAndSet("this candidate", () => this.#insert(draft));
  }

  /** Returns undefined if the external_id was taken and is free by now. */
  async #insert(draft: Draft): Promise<CandidateRecord | undefined> {
    const placedAt = performance.now();
    const { record, stored } = this.#firstVersion(draft);
    try {
      await this.openWrites.during(draft, placedAt, () =>
        this.#mongo.bounded("insert candidates", (signal) => this.#candidates.insertOne(stored, within(signal))),
      );
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      // If the id exists, an interrupted attempt of this same request already inserted the candidate.
      const own = await this.reader.find(draft.accountId, draft.id);
      if (own !== null && isTombstone(own)) throw candidateDeleted(draft.id);
      if (own !== null) return own;
      await this.#refuseTaken(draft);
      return undefined;
    }
    return this.#inPlace(record, placedAt);
  }

  /**
   * Does what `insert` does, but writes nothing. One round trip with an external_id, else none.
   * @throws as `insert` does.
   */
  async rehearse(draft: Draft): Promise<CandidateRecord> {
    const { record } = this.#firstVersion(draft);
    await this.#refuseTaken(draft);
    return record;
  }

  #firstVersion(draft: Draft): { record: CandidateRecord; stored: Stored } {
    const now = this.#clock.now();
    const record = { ...draft, version: 1, ...this.#stampOf(draft, now), created_at: timestamp(now) };
    return { record, stored: encode(record, now) };
  }

  /**
   * Makes one change to a candidate: reads it, edits it, and writes it over the version that was read. Starts again if
   * another write came in between. Two round trips, and two more for each lost race.
   * @param edit may be called more than once. If it throws, the change ends with that error.
   * @throws problems not_found, external_id_taken, payload_too_large, store_unavailable.
   */
  change(accountId: string, id: string, edit: Edit): Promise<CandidateRecord> {
    // Writers of one candidate queue within this process, so that they race only writers in other replicas.
    return this.#queue.run(`${accountId} ${id}`, () => this.#write(accountId, id, edit));
  }

  #write(accountId: string, id: string, edit: Edit): Promise<CandidateRecord> {
    return compareAndSet("this candidate", () => this.#attempt(accountId, id, edit));
  }

  /** Returns undefined if another write came in between, or if the external_id was taken and is free by now. */
  async #attempt(accountId: string, id: string, edit: Edit): Promise<CandidateRecord | undefined> {
    const before = await this.get(accountId, id);
    let placedAt = performance.now();
    // A change must come after the one it is based on, even if this replica's clock is behind.
    const now = Math.max(this.#clock.now(), Date.parse(before.updated_at) + 1);
    const edited = edit(before, timestamp(now));
    if (edited === before) return before;
    const added = edited.references.filter(({ id }) => !before.references.some((reference) => reference.id === id));
    let at = now;
    if (added.length > 0) {
      await this.references.add(edited, added);
      // Readers of the feed allow for the duration of one write, so take the place just before the second write.
      placedAt = performance.now();
      at = Math.max(now, this.#clock.now());
    }
    const record: CandidateRecord = {
      ...edited,
      version: before.version + 1,
      pack_version: before.pack_version + (packFacts(before) === packFacts(edited) ? 0 : 1),
      ...this.#stampOf(edited, at),
    };
    try {
      if (!(await this.#replace(before.version, encode(record, at), placedAt))) return undefined;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      await this.#refuseTaken(record);
      return undefined;
    }
    return this.#inPlace(record, placedAt);
  }

  /**
   * Returns a record just written, and makes sure that no reader of the feed has passed its place. Readers stay behind
   * the clock by the longest time that a write may take. If this write took longer, for example because the process was
   * paused, the candidate is written again with a new place.
   * @param placedAt `performance.now()` just before the place was taken.
   */
  async #inPlace(record: CandidateRecord, placedAt: number): Promise<CandidateRecord> {
    if (performance.now() - placedAt <= this.#mongo.timeoutMs) return record;
    try {
      return await this.#write(record.accountId, record.id, copy);
    } catch (error) {
      this.openWrites.settleLater(record, placedAt);
      throw error;
    }
  }

  /**
   * Replaces the version of a candidate that was read. Returns false if another write came in between.
   * @param placedAt `performance.now()` just before the new version took its place in the feed.
   */
  async #replace(version: number, stored: Stored, placedAt: number): Promise<boolean> {
    const { _id, account } = stored;
    const { matchedCount } = await this.openWrites.during({ accountId: account, id: _id }, placedAt, () =>
      this.#mongo.bounded("update candidates", (signal) =>
        this.#candidates.replaceOne({ _id, account, version }, stored, within(signal)),
      ),
    );
    return matchedCount === 1;
  }

  /**
   * Erases a candidate's record: a tombstone takes its place, in one write. What lies outside the record is left to the
   * caller. Returns the tombstone, also if the candidate was erased before.
   * @param check is called with the candidate before it is erased. If it throws, nothing is erased.
   * @throws problems not_found, store_unavailable.
   */
  erase(accountId: string, id: string, key: string, check: (record: CandidateRecord) => void): Promise<Tombstone> {
    return this.#queue.run(`${accountId} ${id}`, () =>
      compareAndSet("this candidate", async () => {
        const before = (await this.reader.find(accountId, id)) ?? (await this.get(accountId, id));
        if (isTombstone(before)) return before;
        check(before);
        return this.#bury(before, (at) => tombstoneOf(before, { key, at }));
      }),
    );
  }

  /** Writes a tombstone over what was read. Returns undefined if another write came in between. */
  async #bury(
    before: CandidateRecord | Tombstone,
    tombstoneAt: (at: string) => Tombstone,
  ): Promise<Tombstone | undefined> {
    const placedAt = performance.now();
    const now = Math.max(this.#clock.now(), Date.parse(before.updated_at) + 1);
    const tombstone = tombstoneAt(timestamp(now));
    if (!(await this.#replace(before.version, encodeTombstone(tombstone, now), placedAt))) return undefined;
    if (performance.now() - placedAt <= this.#mongo.timeoutMs) return tombstone;
    try {
      return await this.#bury(tombstone, (at) => again(tombstone, at)); // as in #inPlace
    } catch (error) {
      this.openWrites.settleLater(before, placedAt);
      throw error;
    }
  }

  /**
   * Writes a candidate or a tombstone again unchanged, with a new place in the feed. Returns false if there is none.
   * @throws problem store_unavailable
   */
  async #renew(accountId: string, id: string): Promise<boolean> {
    const found = await this.reader.find(accountId, id);
    if (found === null) return false;
    if (!isTombstone(found)) {
      await this.change(accountId, id, copy);
      return true;
    }
    await this.#bury(found, (at) => again(found, at)); // if another write came in between, that one has a new place
    return true;
  }

  /** Returns one candidate. One round trip. @throws problems not_found, also for another account's; candidate_deleted. */
  get(accountId: string, id: string): Promise<CandidateRecord> {
    return this.reader.get(accountId, id);
  }

  /** Returns the id of a reference's candidate. Undefined also for another account's reference. One round trip. */
  candidateOfReference(accountId: string, referenceId: string): Promise<string | undefined> {
    return this.references.candidateOf(accountId, referenceId);
  }

  #stampOf(draft: Draft, now: number): Pick<CandidateRecord, "state" | "updated_at"> {
    return { state: derive(draft).state, updated_at: timestamp(now) };
  }

  /** @throws problem external_id_taken if another candidate has the external_id. */
  async #refuseTaken({ accountId, external_id }: Draft): Promise<void> {
    if (external_id === null) return;
    const holder = await this.reader.holderOf(accountId, external_id);
    if (holder === undefined) return;
    throw problem(
      "external_id_taken",
      `Candidate ${holder} already has this external_id. Send another one, or change that candidate.`,
      {
        members: { candidate_id: holder },
        errors: [{ pointer: "/external_id", detail: "must be unique in the account" }],
      },
    );
  }
}

/** An edit that changes nothing but the place in the feed. */
function copy(record: CandidateRecord): CandidateRecord {
  return { ...record };
}
