import type { Collection, Filter } from "mongodb";
import { timestamp, type Clock } from "../infra/clock.ts";
import { compareAndSet } from "../infra/compare-and-set.ts";
import { KeyedQueue } from "../infra/keyed-queue.ts";
import { isDuplicateKey, isStoreDown, type Mongo, within } from "../infra/mongo.ts";
import { problem } from "../problems.ts";
import type { FeedPage, FeedQuery, FeedRow } from "./feed.ts";
import { OpenWrites } from "./open-writes.ts";
import type { CandidateRecord, Draft } from "./record.ts";
import { ReferenceIndexStore } from "./reference-index-store.ts";
import { derive } from "./state.ts";
import { decode, encode, packFacts, type Stored } from "./stored.ts";

/** Makes one change. Returns the changed candidate, or the same record if there is nothing to change. */
export type Edit = (record: CandidateRecord, now: string) => CandidateRecord;

/** A page of the feed has at most this many bytes, but always at least one row. */
const MAX_PAGE_BYTES = 8 * 1024 * 1024;

/** Candidates in MongoDB, with the look-ups of their references. */
export class CandidateStore {
  readonly #mongo: Mongo;
  readonly #clock: Clock;
  readonly #candidates: Collection<Stored>;
  readonly #references: ReferenceIndexStore;
  readonly #queue = new KeyedQueue(isStoreDown);
  readonly openWrites = new OpenWrites((accountId, id) => this.#renew(accountId, id));

  constructor(mongo: Mongo, clock: Clock) {
    this.#mongo = mongo;
    this.#clock = clock;
    this.#candidates = mongo.db.collection("candidates");
    this.#references = new ReferenceIndexStore(mongo);
  }

  /** Creates the indexes. Safe to repeat. */
  async prepare(): Promise<void> {
    await this.#candidates.createIndex({ account: 1, change: 1 });
    await this.#candidates.createIndex({ account: 1, state: 1, change: 1 });
    await this.#candidates.createIndex(
      { account: 1, external_id: 1 },
      { unique: true, partialFilterExpression: { external_id: { $gt: "" } } },
    );
    // The only index that does not begin with the account: the expiry sweep covers all accounts.
    await this.#candidates.createIndex({ next_expiry: 1 }, { partialFilterExpression: { next_expiry: { $gt: "" } } });
  }

  /**
   * Inserts a candidate. Writes the reference look-ups first: a crash in between leaves look-ups without a candidate,
   * and readers ignore those. Two round trips with references, one without. If the id exists, returns that candidate.
   * @throws problems external_id_taken, payload_too_large, store_unavailable.
   */
  async insert(draft: Draft): Promise<CandidateRecord> {
    await this.#references.add(draft, draft.references);
    const placedAt = performance.now();
    const { record, stored } = this.#firstVersion(draft);
    try {
      await this.openWrites.during(draft, placedAt, () =>
        this.#mongo.bounded("insert candidates", (signal) => this.#candidates.insertOne(stored, within(signal))),
      );
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      // If the id exists, an interrupted attempt of this same request already inserted the candidate.
      const own = await this.find(draft.accountId, draft.id);
      if (own !== null) return own;
      throw await this.#externalIdTaken(draft, error);
    }
    return this.#inPlace(record, placedAt);
  }

  /**
   * Does what `insert` does, but writes nothing. One round trip with an external_id, else none.
   * @throws as `insert` does.
   */
  async rehearse(draft: Draft): Promise<CandidateRecord> {
    const { record } = this.#firstVersion(draft);
    const taken = await this.#externalIdTaken(draft, undefined);
    if (taken !== undefined) throw taken;
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

  /** Returns undefined if another write came in between. */
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
      await this.#references.add(edited, added);
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
    const stored = encode(record, at);
    try {
      const { matchedCount } = await this.openWrites.during(record, placedAt, () =>
        this.#mongo.bounded("update candidates", (signal) =>
          this.#candidates.replaceOne({ _id: id, account: accountId, version: before.version }, stored, within(signal)),
        ),
      );
      if (matchedCount === 0) return undefined;
    } catch (error) {
      throw isDuplicateKey(error) ? await this.#externalIdTaken(record, error) : error;
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
   * Writes a candidate again unchanged, with a new place in the feed. Returns false if it does not exist.
   * @throws problem store_unavailable
   */
  async #renew(accountId: string, id: string): Promise<boolean> {
    if ((await this.find(accountId, id)) === null) return false;
    await this.change(accountId, id, copy);
    return true;
  }

  /** Returns one candidate of the account. @throws problem not_found, also for another account's candidate. */
  async get(accountId: string, id: string): Promise<CandidateRecord> {
    const record = await this.find(accountId, id);
    if (record === null)
      throw problem("not_found", `There is no candidate ${JSON.stringify(id.slice(0, 100))}. Check the id.`);
    return record;
  }

  /** Finds candidates of all accounts whose next_expiry is before that day, the most overdue first. One index range. */
  async expiring(before: string, limit: number): Promise<{ accountId: string; id: string }[]> {
    const overdue = { next_expiry: { $gt: "", $lt: before } }; // with both bounds MongoDB uses the partial index
    const found = await this.#mongo.bounded("find candidates", (signal) =>
      this.#candidates
        .find(overdue, { signal, projection: { account: 1 } })
        .sort({ next_expiry: 1 })
        .limit(limit)
        .toArray(),
    );
    return found.map(({ _id, account }) => ({ accountId: account, id: _id }));
  }

  /** Returns the id of a reference's candidate. Undefined also for another account's reference. One round trip. */
  candidateOfReference(accountId: string, referenceId: string): Promise<string | undefined> {
    return this.#references.candidateOf(accountId, referenceId);
  }

  /** Returns one candidate of the account. Null also for another account's candidate. One round trip. */
  async find(accountId: string, id: string): Promise<CandidateRecord | null> {
    const stored = await this.#mongo.bounded("find candidates", (signal) =>
      this.#candidates.findOne({ _id: id, account: accountId }, { signal }),
    );
    return stored === null ? null : decode(stored);
  }

  /**
   * Reads a page of the account's feed, oldest change first: up to `limit` rows, or fewer if they are too large for one
   * answer. One index range, however many candidates there are. One round trip; two for more than 100 rows.
   */
  feed({ accountId, after, state, external_id, limit }: FeedQuery): Promise<FeedPage> {
    const filter: Filter<Stored> = {
      account: accountId,
      change: { $gt: after },
      ...(state === undefined ? {} : { state }),
      ...(external_id === undefined ? {} : { external_id }),
    };
    return this.#mongo.bounded("find candidates", async (signal) => {
      const rows: FeedRow[] = [];
      let bytes = 0;
      for await (const stored of this.#candidates
        .find(filter, { signal })
        .sort({ change: 1 })
        .limit(limit + 1)) {
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

  async #externalIdTaken({ accountId, external_id }: Draft, cause: unknown): Promise<unknown> {
    if (external_id === null) return cause;
    const holder = await this.#mongo.bounded("find candidates", (signal) =>
      this.#candidates.findOne({ account: accountId, external_id }, { projection: { _id: 1 }, signal }),
    );
    if (holder === null) return cause;
    return problem(
      "external_id_taken",
      `Candidate ${holder._id} already has this external_id. Send another one, or change that candidate.`,
      {
        members: { candidate_id: holder._id },
        errors: [{ pointer: "/external_id", detail: "must be unique in the account" }],
      },
    );
  }
}

/** An edit that changes nothing but the place in the feed. */
function copy(record: CandidateRecord): CandidateRecord {
  return { ...record };
}
