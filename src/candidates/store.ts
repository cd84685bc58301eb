import type { AnyBulkWriteOperation, Collection } from "mongodb";
import type { Logger } from "pino";
import { timestamp, type Clock } from "../infra/clock.ts";
import { compareAndSet, KeyedQueue } from "../infra/compare-and-set.ts";
import { isDuplicateKey, type Limits, type Mongo } from "../infra/mongo.ts";
import { isGone, problem } from "../problems.ts";
import { type CandidateBatches, candidateBatches, type Change } from "./batch-store.ts";
import { alive, candidateNotFound, type Found, isTombstone, tombstoneOf, UnreadableRecord } from "./erasure.ts";
import { ChangedAccounts } from "./changed-accounts-store.ts";
import { ExternalIds } from "./external-id-reader.ts";
import { type HistoryStore, historyStore } from "./history-store.ts";
import { FeedClock, type Reservation } from "./feed-clock.ts";
import { addedAddresses, addressesOf, contactsOf, noMail, optedOut, type Reminders } from "./outreach.ts";
import type { Dated } from "./erasure.ts";
import { CandidateReader } from "./reader.ts";
import { type Author, type CandidateKey, type CandidateRecord, type Draft, service } from "./record.ts";
import { ReferenceIndexStore } from "./reference-index-store.ts";
import { checkSize, encode, type Stored } from "./stored.ts";
import { firstVersion, nextVersion } from "./version.ts";
import { WritesInFlight } from "./writes-in-flight.ts";

/** Makes one change. Returns the changed candidate, or the same record if there is nothing to change. `now` is RFC 3339. */
export type Edit = (record: CandidateRecord, now: string) => CandidateRecord;
type FoundEdit = (found: Found, now: string) => Found;

const NO_REMINDERS: Reminders = { plannerOf: () => Promise.resolve(noMail), optedOut: () => Promise.resolve([]) };
const UNDATED: Dated = (found) => found;

/**
 * Writes candidates to MongoDB, with the lookups of their references. Each write is a compare-and-set on the version. Every
 * method may throw problem store_unavailable. The write may still happen then, and WritesInFlight settles it.
 */
export class CandidateStore {
  readonly #mongo: Mongo;
  readonly #candidates: Collection<Stored>;
  readonly #reminders: Reminders;
  readonly #queue = new KeyedQueue();
  readonly reader: CandidateReader;
  readonly externalIds: ExternalIds;
  readonly references: ReferenceIndexStore;
  readonly history: HistoryStore;
  readonly feedClock: FeedClock;
  readonly batches: CandidateBatches;
  /** Notes when a candidate that is about to be written will be erased without a request. */
  readonly dated: Dated;
  readonly inFlight = new WritesInFlight((key) => this.#renew(key));
  readonly changedAccounts: ChangedAccounts;

  constructor(mongo: Mongo, clock: Clock, reminders = NO_REMINDERS, log?: Pick<Logger, "error">, dated = UNDATED) {
    this.#mongo = mongo;
    this.dated = dated;
    this.#reminders = reminders;
    this.feedClock = new FeedClock(clock);
    this.#candidates = mongo.db.collection("candidates");
    this.reader = new CandidateReader(mongo, log);
    this.externalIds = new ExternalIds(mongo);
    this.references = new ReferenceIndexStore(mongo);
    this.history = historyStore(mongo, this.reader);
    this.changedAccounts = new ChangedAccounts(mongo);
    const commit = (changes: readonly Change[], position: Reservation) => this.#commit(changes, position);
    const { reader, references, feedClock, inFlight, history } = this;
    const given = { mongo, reminders, dated, commit };
    this.batches = candidateBatches({ ...given, reader, references, feedClock, inFlight, history });
  }

  /**
   * Inserts a candidate, or returns the one that an interrupted attempt of this request has inserted. The reference lookups come
   * first: readers ignore those without a candidate. @throws problems external_id_taken, payload_too_large, candidate_deleted.
   */
  insert(draft: Draft, { by }: Author): Promise<CandidateRecord> {
    return this.references.around(draft, draft.references, () =>
      compareAndSet("this candidate", async () => {
        const optedOutOnes = await this.#reminders.optedOut(draft.accountId, addressesOf(draft));
        const position = this.feedClock.reserve();
        const after = this.dated(firstVersion(draft, by, position.at, optedOutOnes));
        try {
          await this.#commit([{ before: undefined, after }], position);
          return alive(await this.#inPlace(after, position));
        } catch (error) {
          if (!isDuplicateKey(error)) throw error;
          const own = await this.reader.find(draft.accountId, draft.id);
          if (own !== null) return alive(own);
          await this.externalIds.check(draft);
          return undefined;
        }
      }),
    );
  }

  /** Does what `insert` does, but writes nothing. @throws as `insert` does. */
  async rehearse(draft: Draft, { by }: Author): Promise<CandidateRecord> {
    const now = this.feedClock.now();
    const optedOuts = await this.#reminders.optedOut(draft.accountId, addressesOf(draft));
    const record = this.dated(firstVersion(draft, by, now, optedOuts));
    checkSize(record, now);
    await this.externalIds.check(draft);
    return record;
  }

  /**
   * Makes one change to a candidate. Starts again if another write came in between.
   * @param edit may be called more than once. If it throws, the change ends with that error.
   * @param known the candidate as it was recently read or written: it is edited first, without another read.
   * @throws problems not_found, candidate_deleted, external_id_taken, payload_too_large.
   */
  async change(author: Author, id: string, edit: Edit, known?: CandidateRecord): Promise<CandidateRecord> {
    return alive(await this.#queued({ ...author, id }, (found, now) => edit(alive(found), now), known));
  }

  /**
   * Erases a candidate's record: a tombstone takes its place, in one write. What lies outside the record is left to the
   * caller. Returns the tombstone, also if the candidate was erased before. Also erases a record that cannot be read.
   * @param check is called before the candidate is erased, with what it replaces. If it throws, nothing is erased.
   * @throws problem not_found
   */
  async erase(accountId: string, id: string, key: string, check: (found: Found) => void): Promise<Found> {
    const author = { ...service(accountId, "erasures"), id }; // a tombstone has no history
    const edit: FoundEdit = (found, at) => {
      if (isTombstone(found) && found.left === undefined) return found;
      check(found);
      return tombstoneOf(found, { key, at });
    };
    try {
      return await this.#queued(author, edit);
    } catch (error) {
      if (!(error instanceof UnreadableRecord)) throw error;
      return this.#queued(author, edit, error.salvaged);
    }
  }

  /**
   * Writes the tombstone of a candidate that is not here, for mirrors that have it. If it is here, returns it.
   * @throws problem not_found if another account has the id
   */
  async bury(accountId: string, id: string, key: string): Promise<Found> {
    const position = this.feedClock.reserve();
    const at = timestamp(position.at);
    const none = { deleted: true, id, accountId, version: 0, updated_at: at, erasure: null } as const;
    const after = tombstoneOf(none, { key, at });
    try {
      await this.#commit([{ before: undefined, after }], position);
      return await this.#inPlace(after, position);
    } catch (error) {
      const found = isDuplicateKey(error) && (await this.reader.find(accountId, id));
      if (found) return found;
      throw found === null ? problem("not_found", `Candidate ${id} belongs to another account.`) : error;
    }
  }

  /** Writers of one candidate queue within this process, so that they race only writers in other replicas. */
  #queued(key: Written, edit: FoundEdit, known?: Found): Promise<Found> {
    return this.#queue.run(`${key.accountId} ${key.id}`, () => this.#update(key, edit, known));
  }

  #update({ accountId, id, by }: Written, edit: FoundEdit, known?: Found): Promise<Found> {
    let guess = known;
    return compareAndSet("this candidate", async () => {
      const before = guess ?? (await this.reader.find(accountId, id));
      if (before === null) throw candidateNotFound(id);
      const after = await this.#attempt(await this.history.roomy(before), edit, by);
      const isUnread = after === guess; // nothing to write to the guess, which may be outdated: read it
      guess = undefined;
      return isUnread ? undefined : after;
    });
  }

  /** Returns undefined if another write came in between, or if the external_id was taken and is free by now. */
  async #attempt(before: Found, edit: FoundEdit, by: Author["by"]): Promise<Found | undefined> {
    const plan = await this.#reminders.plannerOf(before.accountId);
    // A change must come after the one it is based on, even if this replica's clock is behind.
    const reserved = this.feedClock.reserve(Date.parse(before.updated_at));
    const edited = edit(before, timestamp(reserved.now));
    if (edited === before) return before;
    const [was, is] = [contactsOf(before), contactsOf(edited)];
    const emails = addedAddresses(was, is);
    const optedOutOnes = emails.length === 0 ? [] : await this.#reminders.optedOut(before.accountId, emails);
    const marked = isTombstone(edited) ? edited : optedOut(edited, optedOutOnes);
    const added = is.references.filter(({ id }) => !was.references.some((reference) => reference.id === id));
    return this.references.around(before, added, async () => {
      // Readers allow for the duration of one write, so the position is reserved just before it.
      const position = added.length + emails.length === 0 ? reserved : this.feedClock.reserve(reserved.at - 1);
      const after = this.dated(nextVersion(before, marked, by, position, plan));
      try {
        const count = await this.#commit([{ before, after }], position);
        return count === 0 ? undefined : await this.#inPlace(after, position);
      } catch (error) {
        if (!isDuplicateKey(error) || isTombstone(marked)) throw error;
        await this.externalIds.check(marked);
        return undefined;
      }
    });
  }

  /**
   * Writes candidates at a feed position: the only way in which one is created or changed. No await may come between the
   * reservation and this call: a checkpoint in between would not know of the write. Returns the number of written candidates.
   * One that another write has changed since it was read is not written.
   */
  #commit(changes: readonly Change[], position: Reservation): Promise<number> {
    const name = changes.some(({ before }) => before === undefined) ? "insert candidates" : "update candidates";
    const candidates = changes.map(({ after }) => after);
    return this.inFlight.during(candidates, position, async () => {
      const writes = changes.map(({ before, after }): AnyBulkWriteOperation<Stored> => {
        const document = encode(after, position.at, before);
        if (before === undefined) return { insertOne: { document } };
        const { _id, account } = document;
        return { replaceOne: { filter: { _id, account, version: before.version }, replacement: document } };
      });
      const run = (limits: Limits) => this.#candidates.bulkWrite(writes, { ...limits, ordered: false });
      const written = this.#mongo.bounded(name, run).then((all) => all.insertedCount + all.matchedCount);
      const count = await written.catch(() => changes.length - 1); // if one is refused, the others may be written
      if (count > 0) this.changedAccounts.note(changes, position.at);
      return written;
    });
  }

  /**
   * Returns a candidate just written, at a position that no reader has passed. Readers stay behind the clock by the maximum
   * time of a write. If this one took longer, for example because the process was paused, the candidate is written again.
   */
  async #inPlace(written: Found, position: Reservation): Promise<Found> {
    if (!this.#mongo.isLate(position.reservedAt)) return written;
    try {
      return await this.#update({ ...written, ...service(written.accountId, "feed") }, copy);
    } catch (error) {
      this.inFlight.settleLater(written, position);
      throw error;
    }
  }

  /** Writes a candidate again at a new position. An unsettled write may have brought it into its state. False if it is missing. */
  async #renew(key: CandidateKey): Promise<boolean> {
    try {
      const after = await this.#queued({ ...key, ...service(key.accountId, "feed") }, copy);
      this.changedAccounts.note([{ before: undefined, after }], Date.parse(after.updated_at));
      return true;
    } catch (error) {
      if (isGone(error)) return false;
      if (error instanceof UnreadableRecord) return true; // it cannot be written again, and must not hold up the others
      throw error;
    }
  }
}

type Written = CandidateKey & Author;
/** An edit that changes nothing but the feed position. */
const copy = (found: Found): Found => ({ ...found });
