import type { Collection } from "mongodb";
import { timestamp, type Clock } from "../infra/clock.ts";
import { compareAndSet } from "../infra/compare-and-set.ts";
import { KeyedQueue } from "../infra/keyed-queue.ts";
import { isDuplicateKey, isStoreDown, type Mongo } from "../infra/mongo.ts";
import { FeedClock, type TimedPlace } from "./feed-clock.ts";
import { OpenWrites, type Place } from "./open-writes.ts";
import type { ChaseRules, RulesOf } from "./chase.ts";
import { optedOut } from "./chase-edits.ts";
import { addedAddresses, addressesOf } from "./planned.ts";
import type { CandidateRecord, Draft } from "./record.ts";
import { CandidateReader } from "./reader.ts";
import { refuseTaken } from "./taken.ts";
import { ReferenceIndexStore } from "./reference-index-store.ts";
import { checkSize, encode, encodeTombstone, type Stored } from "./stored.ts";
import { again, candidateDeleted, isTombstone, type Tombstone, tombstoneOf } from "./tombstone.ts";
import { firstVersion, nextVersion } from "./version.ts";

/** Makes one change. Returns the changed candidate, or the same record if there is nothing to change. */
export type Edit = (record: CandidateRecord, now: string) => CandidateRecord;

/** Writes candidates to MongoDB, with the look-ups of their references. */
export class CandidateStore {
  readonly #mongo: Mongo;
  readonly #candidates: Collection<Stored>;
  readonly rulesOf: RulesOf;
  readonly #optOuts: OptOuts;
  readonly reader: CandidateReader;
  readonly references: ReferenceIndexStore;
  readonly #queue = new KeyedQueue(isStoreDown);
  readonly feedClock: FeedClock;
  readonly openWrites = new OpenWrites((accountId, id) => this.#renew(accountId, id));

  /**
   * @param rulesOf each write plans the chase by it. Without it, the chase is off.
   * @param optOuts each write that adds an address asks it.
   */
  constructor(
    mongo: Mongo,
    clock: Clock,
    rulesOf: RulesOf = () => Promise.resolve(undefined),
    optOuts: OptOuts = { among: () => Promise.resolve([]) },
  ) {
    this.#mongo = mongo;
    this.feedClock = new FeedClock(clock);
    this.rulesOf = rulesOf;
    this.#optOuts = optOuts;
    this.#candidates = mongo.db.collection("candidates");
    this.reader = new CandidateReader(mongo);
    this.references = new ReferenceIndexStore(mongo);
  }

  /**
   * Inserts a candidate. Writes the reference look-ups first: a crash in between leaves look-ups without a candidate,
   * and readers ignore those. Two round trips with references, one without. If the id exists, returns that candidate.
   * @throws problems external_id_taken, payload_too_large, store_unavailable.
   */
  async insert(draft: Draft): Promise<CandidateRecord> {
    return this.references.around(draft, draft.references, () =>
      compareAndSet("this candidate", () => this.#insert(draft)),
    );
  }

  /** Returns undefined if the external_id was taken and is free by now. */
  async #insert(draft: Draft): Promise<CandidateRecord | undefined> {
    const optedOut = await this.#optOuts.among(draft.accountId, addressesOf(draft));
    const place = this.feedClock.take();
    const record = firstVersion(draft, place.at, optedOut);
    const stored = encode(record, place.at);
    try {
      await this.openWrites.during([draft], place, () =>
        this.#mongo.bounded("insert candidates", (limits) => this.#candidates.insertOne(stored, limits)),
      );
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      // If the id exists, an interrupted attempt of this same request already inserted the candidate.
      const own = await this.reader.find(draft.accountId, draft.id);
      if (own !== null && isTombstone(own)) throw candidateDeleted(draft.id);
      if (own !== null) return own;
      await refuseTaken(this.reader, draft); // not by itself, if that attempt landed just now
      return undefined;
    }
    return this.#inPlace(record, place);
  }

  /**
   * Does what `insert` does, but writes nothing. One round trip with an external_id, and one with addresses.
   * @throws as `insert` does.
   */
  async rehearse(draft: Draft): Promise<CandidateRecord> {
    const now = this.feedClock.now();
    const optedOut = await this.#optOuts.among(draft.accountId, addressesOf(draft));
    const record = firstVersion(draft, now, optedOut);
    checkSize(record, now);
    await refuseTaken(this.reader, draft);
    return record;
  }

  /**
   * Makes one change to a candidate: edits it, and writes it over the version that was edited. Starts again if another
   * write came in between. Two round trips; two more for each lost race, one more for added references, and one more for
   * settings that this process does not know (RulesOf).
   * @param edit may be called more than once. If it throws, the change ends with that error.
   * @param known the candidate as it was read or written lately. If nobody has written it since, one round trip is enough.
   * @throws problems not_found, external_id_taken, payload_too_large, store_unavailable.
   */
  change(accountId: string, id: string, edit: Edit, known?: CandidateRecord): Promise<CandidateRecord> {
    // Writers of one candidate queue within this process, so that they race only writers in other replicas.
    return this.#queue.run(`${accountId} ${id}`, () => this.#write(accountId, id, edit, known));
  }

  #write(accountId: string, id: string, edit: Edit, known?: CandidateRecord): Promise<CandidateRecord> {
    let guess = known;
    return compareAndSet("this candidate", async () => {
      const before = guess ?? (await this.get(accountId, id));
      const after = await this.#attempt(before, edit);
      const isUnread = after === guess; // nothing to write to the guess, which may be outdated: read it
      guess = undefined;
      return isUnread ? undefined : after;
    });
  }

  /** Returns undefined if another write came in between, or if the external_id was taken and is free by now. */
  async #attempt(before: CandidateRecord, edit: Edit): Promise<CandidateRecord | undefined> {
    const { accountId } = before;
    const rules = await this.rulesOf(accountId);
    // A change must come after the one it is based on, even if this replica's clock is behind.
    const place = this.feedClock.take(Date.parse(before.updated_at));
    const changed = edit(before, timestamp(place.now));
    if (changed === before) return before;
    const addresses = addedAddresses(before, changed);
    const edited = optedOut(changed, await this.#optOuts.among(accountId, addresses));
    const added = edited.references.filter(({ id }) => !before.references.some((reference) => reference.id === id));
    return this.references.around(edited, added, () => {
      // Readers of the feed allow for the duration of one write, so take the place just before it.
      const later = () => this.feedClock.take(place.at - 1);
      const at = added.length + addresses.length === 0 ? place : later();
      return this.#replaceBy(before, { edited, rules }, at);
    });
  }

  /** Writes the changed candidate. Returns undefined as `#attempt` does. */
  async #replaceBy(
    before: CandidateRecord,
    { edited, rules }: { edited: CandidateRecord; rules: ChaseRules | undefined },
    place: TimedPlace,
  ): Promise<CandidateRecord | undefined> {
    const record = nextVersion(before, edited, place.at, rules, place.now);
    try {
      if (!(await this.#replace(before.version, encode(record, place.at, before), place))) return undefined;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      await refuseTaken(this.reader, record);
      return undefined;
    }
    return this.#inPlace(record, place);
  }

  /**
   * Returns a record just written, and makes sure that no reader of the feed has passed its place. Readers stay behind
   * the clock by the longest time that a write may take. If this write took longer, for example because the process was
   * paused, the candidate is written again with a new place.
   */
  async #inPlace(record: CandidateRecord, place: Place): Promise<CandidateRecord> {
    if (!this.#mongo.isLate(place.takenAt)) return record;
    try {
      return await this.#write(record.accountId, record.id, copy);
    } catch (error) {
      this.openWrites.settleLater(record, place);
      throw error;
    }
  }

  /** Replaces the version of a candidate that was read. Returns false if another write came in between. */
  async #replace(version: number, stored: Stored, place: Place): Promise<boolean> {
    const { _id, account } = stored;
    const { matchedCount } = await this.openWrites.during([{ accountId: account, id: _id }], place, () =>
      this.#mongo.bounded("update candidates", (limits) =>
        this.#candidates.replaceOne({ _id, account, version }, stored, limits),
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
    const place = this.feedClock.take(Date.parse(before.updated_at));
    const tombstone = tombstoneAt(timestamp(place.at));
    if (!(await this.#replace(before.version, encodeTombstone(tombstone, place.at), place))) return undefined;
    if (!this.#mongo.isLate(place.takenAt)) return tombstone;
    // As in #inPlace. It does not read, so if it fails, its own write is unsettled.
    return this.#bury(tombstone, (at) => again(tombstone, at));
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
}

/** Whose owners want no more messages of the account. @throws problem store_unavailable */
export interface OptOuts {
  /** Returns those of the addresses. No round trip without addresses. */
  among(accountId: string, emails: readonly string[]): Promise<string[]>;
}

/** An edit that changes nothing but the place in the feed. */
function copy(record: CandidateRecord): CandidateRecord {
  return { ...record };
}
