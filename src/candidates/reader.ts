import { LRUCache } from "lru-cache";
import { BSON, type Filter } from "mongodb";
import type { Logger } from "pino";
import { BoundedCollection, equals } from "../infra/bounded-collection.ts";
import { FairLimit } from "../infra/fair-limit.ts";
import { jsonBytes } from "../infra/json-parts.ts";
import type { Mongo } from "../infra/mongo.ts";
import { findRaw, type RawQuery } from "../infra/raw-find.ts";
import { TimeSlice } from "../infra/time-slice.ts";
import { alive, candidateNotFound, type Found, isTombstone, renderUnreadable, UnreadableRecord } from "./erasure.ts";
import type { FeedPage, FeedEntry, FeedQuery } from "./feed.ts";
import { CANDIDATE_INDEXES } from "./indexes.ts";
import { faultOf } from "./readable.ts";
import type { CandidateKey, CandidateRecord, Erasure } from "./record.ts";
import { renderCandidate } from "./render.ts";
import { cutPage, jsonOf, MAX_PAGE_BYTES, type RowSource } from "./rows.ts";
import { rowIn } from "./row-store.ts";
import { decode, keyOf, NOT_DECODED, salvaged, type Stored } from "./stored.ts";

/** Maximum pages that are read at once. A reply of MongoDB has up to 16 MiB, and the driver has 100 connections. */
const MAX_PAGE_READS = 16;

/** Maximum number of reads of a page while its candidates are changed. */
const MAX_FEED_READS = 3;

/** Maximum size of records that are changed in one write, without their rows: they are encoded in one go. */
const MAX_TOGETHER_BYTES = 256 * 1024;

type Query = Omit<RawQuery<Stored>, "collection">;

const POSITION_MEMBERS = { change: 1, version: 1, updated_at: 1, size: 1 } as const;
const ROW_MEMBERS = { ...POSITION_MEMBERS, deleted: 1, row_form: 1, row_version: 1, row: 1 } as const;

/** Without a check of the history's UTF-8: only the service writes it, and the check would take a fifth of the decoding. */
const DECODING = { validation: { utf8: { history: false } } } as const;

/** Reads candidates from MongoDB, in one round trip each if not said otherwise. Every method may throw problem store_unavailable. */
export class CandidateReader {
  readonly indexes = [CANDIDATE_INDEXES];
  readonly #mongo: Mongo;
  readonly #candidates: BoundedCollection<Stored>;
  readonly #pageReads = new FairLimit(MAX_PAGE_READS);
  readonly #log: Pick<Logger, "error"> | undefined;
  /** The ids of the records that this process could not read in the last hour. */
  readonly #unreadable = new LRUCache<string, true>({ max: 1_000, ttl: 60 * 60 * 1000 });

  /** @param log is told of records that cannot be read. */
  constructor(mongo: Mongo, log?: Pick<Logger, "error">) {
    this.#mongo = mongo;
    this.#log = log;
    this.#candidates = new BoundedCollection(mongo, "candidates");
  }

  /** Returns a candidate or its tombstone. Null also for another account's. @throws UnreadableRecord */
  async find(accountId: string, id: string): Promise<Found | null> {
    const filter = { _id: id, account: accountId };
    const { documents } = await this.#find({ filter, projection: NOT_DECODED, limit: 1 });
    const found = documents[0] === undefined ? null : this.#decoded(documents[0]);
    if (found instanceof UnreadableRecord) throw found;
    return found;
  }

  /** Decodes a record. Logs and remembers it if it cannot be read. */
  #decoded(document: Uint8Array): Found | UnreadableRecord {
    let reason: string;
    try {
      const found = decode(BSON.deserialize(document, DECODING) as Stored);
      const fault = faultOf(found);
      if (fault === undefined) {
        this.#unreadable.delete(found.id);
        return found;
      }
      reason = fault;
    } catch (error) {
      reason = error instanceof SyntaxError ? error.name : String(error); // JSON.parse repeats the text that it refuses
    }
    const left = salvaged(document);
    const { id: candidate, accountId: account } = left;
    if (!this.#unreadable.has(candidate)) this.#log?.error({ candidate, account, reason }, "a record cannot be read");
    this.#unreadable.set(candidate, true);
    return new UnreadableRecord(left, reason);
  }

  /** Returns the ids of the records that this process could not read in the last hour, at most 1,000. No round trip. */
  unreadable(): string[] {
    return [...this.#unreadable.keys()];
  }

  /** Returns a candidate. @throws problems not_found, also for another account's; candidate_deleted. Or UnreadableRecord. */
  async get(accountId: string, id: string): Promise<CandidateRecord> {
    const found = await this.find(accountId, id);
    if (found === null) throw candidateNotFound(id);
    return alive(found);
  }

  /** Returns the feed positions (`change`) of those candidates that exist. */
  async positionsOf(accountId: string, ids: readonly string[]): Promise<string[]> {
    const filter = { _id: { $in: [...ids] }, account: accountId };
    return (await this.#candidates.find(filter, { projection: { change: 1 } })).map(({ change }) => change);
  }

  /** Returns candidates with these ids, as `#together` does. */
  async several(accountId: string, ids: readonly string[]): Promise<CandidateRecord[]> {
    const filter = { _id: { $in: [...ids] }, account: accountId };
    const limit = ids.length;
    if (limit === 0) return [];
    return this.#together((await this.#find({ filter, projection: NOT_DECODED, limit })).documents);
  }

  /** Decodes records up to MAX_TOGETHER_BYTES, but at least one. Leaves out erased candidates, and records that cannot be read. */
  async #together(documents: readonly Buffer[]): Promise<CandidateRecord[]> {
    const records: CandidateRecord[] = [];
    let bytes = 0;
    const slice = new TimeSlice();
    for (const document of documents) {
      if (slice.isOver()) await slice.next();
      bytes += rowIn(document).size;
      if (records.length > 0 && bytes > MAX_TOGETHER_BYTES) return records;
      const found = this.#decoded(document);
      if (!(found instanceof UnreadableRecord || isTombstone(found))) records.push(found);
    }
    return records;
  }

  /**
   * Reads a page of the account's feed, oldest change first: up to `limit` rows, or fewer if they are too large for one
   * response. One index range. One more round trip if some rows are not stored as they are shown now. If such a row is
   * changed in between, the page is read again: the row may have a later position in the same page, and a lookup must find
   * its candidate. A row that is changed each time is left out.
   */
  async feed(query: FeedQuery): Promise<FeedPage> {
    for (let reads = 1; ; reads++) {
      const page = await this.#page(query, ROW_MEMBERS);
      const texts = page.rows.map(jsonOf);
      const missing = page.rows.filter((_row, n) => texts[n] === undefined);
      const rendered = await this.#rendered(query.accountId, missing);
      const rows = page.rows.map((row, n) => ({ ...row, json: texts[n] ?? rendered.get(row._id) }));
      const cut = cutPage({ rows, more: page.more });
      if (reads === MAX_FEED_READS || cut.rows.every(({ json }) => json !== undefined)) return cut;
    }
  }

  /** Reads the positions of the rows that `feed` reads, without the rows; of more if their JSON is larger than their records. */
  positions(query: FeedQuery): Promise<FeedPage<FeedEntry>> {
    return this.#page(query, POSITION_MEMBERS);
  }

  /** @param inTurnOf the account of a page. The wait counts towards the time limit. */
  #find(query: Query, inTurnOf?: string) {
    return this.#mongo.bounded("find candidates", (limits) => {
      const find = () => findRaw<Stored>(this.#mongo.db, { collection: "candidates", ...query }, limits);
      return inTurnOf === undefined ? find() : this.#pageReads.run(inTurnOf, find);
    });
  }

  /** Reads rows of a page: no more than have MAX_PAGE_BYTES together, but at least one. */
  async #page(query: FeedQuery, projection: Record<string, 1>): Promise<{ rows: RowSource[]; more: boolean }> {
    const { limit, accountId } = query;
    const sort: Query["sort"] = query.words === undefined ? { change: 1 } : { created_at: -1 };
    const find = { filter: filterOf(query), sort, projection, limit: limit + 1 };
    const { documents, cut } = await this.#find(find, accountId);
    const rows: RowSource[] = [];
    let bytes = 0;
    const slice = new TimeSlice();
    for (const document of documents) {
      if (slice.isOver()) await slice.next();
      const row = rowIn(document);
      bytes += row.size;
      if (rows.length === limit || (rows.length > 0 && bytes > MAX_PAGE_BYTES)) return { rows, more: true };
      rows.push(row);
    }
    return { rows, more: cut };
  }

  /**
   * Renders these versions of candidates as JSON, by id, in order, and stops when it has more than MAX_PAGE_BYTES: escaped
   * control characters make JSON six times as large as its record. Leaves out a candidate that has another version by now.
   */
  async #rendered(accountId: string, candidates: readonly RowSource[]): Promise<ReadonlyMap<string, Uint8Array>> {
    const rendered = new Map<string, Uint8Array>();
    if (candidates.length === 0) return rendered;
    const filter = { _id: { $in: candidates.map(({ _id }) => _id) }, account: accountId };
    const found = new Map<string, Buffer>();
    const slice = new TimeSlice();
    const find = { filter, limit: candidates.length, projection: NOT_DECODED };
    for (const document of (await this.#find(find, accountId)).documents) {
      const { _id, version } = rowIn(document);
      found.set(`${_id} ${version}`, document); // the version may be no number
      if (slice.isOver()) await slice.next();
    }
    let bytes = 0;
    for (const { _id, version } of candidates) {
      const document = found.get(`${_id} ${version}`);
      if (document === undefined) continue;
      const record = this.#decoded(document);
      const isUnreadable = record instanceof UnreadableRecord;
      if (!isUnreadable && isTombstone(record)) continue;
      const json = await jsonBytes(isUnreadable ? renderUnreadable(_id) : renderCandidate(record));
      rendered.set(_id, json);
      if ((bytes += json.length) > MAX_PAGE_BYTES) break;
      if (slice.isOver()) await slice.next();
    }
    return rendered;
  }

  /**
   * Reads candidates of all accounts whose next_expiry is before that day, the most overdue first: at most `limit`, and no more
   * than have MAX_TOGETHER_BYTES together, but at least one. Leaves out records that cannot be read.
   */
  async expiring(before: string, limit: number): Promise<CandidateRecord[]> {
    // With both bounds MongoDB uses the partial index.
    const filter = { next_expiry: { $gt: "", $lt: before }, _id: { $nin: this.unreadable() } };
    const { documents } = await this.#find({ filter, sort: { next_expiry: 1 }, limit, projection: NOT_DECODED });
    return this.#together(documents);
  }

  /** Finds candidates of all accounts whose erasures, or those of their parts, are not finished, oldest first. */
  async unfinishedErasures(limit: number): Promise<CandidateKey[]> {
    const options = { sort: { "erasure.at": 1 }, limit, projection: { account: 1 } } as const;
    return (await this.#candidates.find({ "erasure.at": { $gt: "" } }, options)).map(keyOf);
  }

  /** Notes that an erasure is finished, unless another deletion was made since. The row in the feed stays as it is. */
  async erasureFinished({ accountId, id }: CandidateKey, { at }: Erasure): Promise<void> {
    const filter = { _id: id, account: accountId, "erasure.at": at };
    await this.#candidates.updateOne(filter, { $unset: { erasure: "" } });
  }
}

function filterOf({ accountId, after, state, external_id, words }: FeedQuery): Filter<Stored> {
  // The stand-in looks into an array for $all, and not for an equality.
  if (words !== undefined) return { account: equals(accountId), words: { $all: [...words] } };
  return {
    account: equals(accountId),
    change: { $gt: after },
    ...(state === undefined ? {} : { state: equals(state) }),
    ...(external_id === undefined ? {} : { external_id: equals(external_id) }),
  };
}
