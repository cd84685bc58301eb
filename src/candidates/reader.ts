import { BSON, type Collection, type Filter } from "mongodb";
import { equals } from "../infra/equals.ts";
import type { CollectionIndexes } from "../infra/indexes.ts";
import { jsonBytes } from "../infra/json-parts.ts";
import type { Mongo } from "../infra/mongo.ts";
import { findRaw, type RawBatch, type RawQuery } from "../infra/raw-find.ts";
import { TimeSlice } from "../infra/time-slice.ts";
import { problem } from "../problems.ts";
import type { FeedPage, FeedPlace, FeedQuery } from "./feed.ts";
import type { CandidateRecord, Erasure } from "./record.ts";
import { renderCandidate } from "./render.ts";
import { jsonOf, type RowSource } from "./row.ts";
import { decode, decodeTombstone, type Stored } from "./stored.ts";
import { PLACES, type RowReading, ROWS } from "./stored-row.ts";
import { candidateDeleted, isTombstone, type Tombstone } from "./tombstone.ts";

/** A page of the feed has at most this many bytes, but always at least one row. */
const MAX_PAGE_BYTES = 4 * 1024 * 1024;

/** How often a page is read at most, while candidates of it are changed. */
const MAX_FEED_READS = 3;

const INDEXES: CollectionIndexes = {
  collection: "candidates",
  indexes: [
    { key: { account: 1, change: 1 } },
    { key: { account: 1, state: 1, change: 1 } },
    {
      key: { account: 1, external_id: 1 },
      unique: true,
      partialFilterExpression: { external_id: { $gt: "" } },
    },
    // The only indexes that do not begin with the account: the sweeps cover all accounts.
    { key: { next_expiry: 1 }, partialFilterExpression: { next_expiry: { $gt: "" } } },
    { key: { "erasure.at": 1 }, partialFilterExpression: { "erasure.at": { $gt: "" } } },
    { key: { "outreach.look_at": 1, account: 1 }, partialFilterExpression: { "outreach.look_at": { $gt: "" } } },
    { key: { account: 1, "outreach.rules": 1 }, partialFilterExpression: { "outreach.look_at": { $gt: "" } } },
  ],
};

/**
 * Their candidates are written in one command, which the driver encodes in one go. Rows, which this does not count, make
 * it about twice as large.
 */
const MAX_EXPIRING_BYTES = 256 * 1024;

/** Everything but the row, which only the list needs. */
const RECORD_MEMBERS = { row: 0 } as const;

export interface CandidateKey {
  readonly accountId: string;
  readonly id: string;
}

/** Reads candidates from MongoDB. Every method may throw problem store_unavailable. */
export class CandidateReader {
  readonly indexes = [INDEXES];
  readonly #mongo: Mongo;
  readonly #candidates: Collection<Stored>;

  constructor(mongo: Mongo) {
    this.#mongo = mongo;
    this.#candidates = mongo.db.collection("candidates");
  }

  /** Returns a candidate or its tombstone. Null also for another account's. One round trip. */
  async find(accountId: string, id: string): Promise<CandidateRecord | Tombstone | null> {
    const filter = { _id: id, account: accountId };
    const { documents } = await this.#find({ filter, projection: RECORD_MEMBERS, limit: 1 });
    const [document] = documents;
    if (document === undefined) return null;
    const stored = BSON.deserialize(document) as Stored;
    return decodeTombstone(stored) ?? decode(stored);
  }

  /** Returns a candidate. One round trip. @throws problems not_found, also for another account's; candidate_deleted. */
  async get(accountId: string, id: string): Promise<CandidateRecord> {
    const found = await this.find(accountId, id);
    if (found === null)
      throw problem("not_found", `There is no candidate ${JSON.stringify(id.slice(0, 100))}. Check the id.`);
    if (isTombstone(found)) throw candidateDeleted(id);
    return found;
  }

  /** Returns the id of the candidate that has this external_id. One round trip. */
  async holderOf(accountId: string, external_id: string): Promise<string | undefined> {
    const holder = await this.#mongo.bounded("find candidates", (limits) =>
      this.#candidates.findOne(
        { account: equals(accountId), external_id: equals(external_id) },
        { ...limits, projection: { _id: 1 } },
      ),
    );
    return holder?._id;
  }

  /**
   * Reads a page of the account's feed, oldest change first: up to `limit` rows, or fewer if they are too large for one
   * answer. One index range, however many candidates there are. One round trip; one more if some rows are not stored as
   * they are shown now. If such a row is changed between the two, the page is read again: the row may have a later place
   * in the same page, and a look-up must find its candidate. A row that is changed each time is left out.
   */
  async feed(query: FeedQuery): Promise<FeedPage> {
    for (let reads = 1; ; reads++) {
      const page = await this.#feed(query);
      if (reads === MAX_FEED_READS || page.rows.every(({ json }) => json !== undefined)) return page;
    }
  }

  async #feed(query: FeedQuery): Promise<FeedPage> {
    const { rows, more } = await this.#page(query, ROWS);
    const shown = rows.map((source) => ({ ...source, json: jsonOf(source) }));
    const rendered = await this.#rendered(
      query.accountId,
      shown.filter(({ json }) => json === undefined),
    );
    return {
      rows: shown.map(({ _id, change, version, json }) => ({ change, version, json: json ?? rendered.get(_id) })),
      more,
    };
  }

  /** Reads the places of the same rows that `feed` reads, without the rows. One round trip. */
  places(query: FeedQuery): Promise<FeedPage<FeedPlace>> {
    return this.#page(query, PLACES);
  }

  #find(query: Omit<RawQuery<Stored>, "collection">): Promise<RawBatch> {
    return this.#mongo.bounded("find candidates", (limits) =>
      findRaw<Stored>(this.#mongo.db, { collection: "candidates", ...query }, limits),
    );
  }

  /** Reads rows of a page: no more than have MAX_PAGE_BYTES together, but at least one. One round trip. */
  async #page<Row>(query: FeedQuery, { projection, read }: RowReading<Row>): Promise<{ rows: Row[]; more: boolean }> {
    const { limit } = query;
    const asked = { filter: filterOf(query), sort: { change: 1 }, projection, limit: limit + 1 } as const;
    const { documents, cut } = await this.#find(asked);
    const rows: Row[] = [];
    let bytes = 0;
    for (const document of documents) {
      const row = read(document);
      bytes += row.size;
      if (rows.length === limit || (rows.length > 0 && bytes > MAX_PAGE_BYTES)) return { rows, more: true };
      rows.push(row);
    }
    return { rows, more: cut };
  }

  /**
   * Renders these versions of candidates as JSON, by id. Leaves out a candidate that has another version by now: it has a
   * later place in the feed. One round trip, or two if they are larger than 16 MiB; none without candidates.
   */
  async #rendered(accountId: string, candidates: readonly RowSource[]): Promise<ReadonlyMap<string, Uint8Array>> {
    const rendered = new Map<string, Uint8Array>();
    if (candidates.length === 0) return rendered;
    const versions = new Map(candidates.map(({ _id, version }) => [_id, version]));
    const filter = { _id: { $in: [...versions.keys()] }, account: accountId };
    const records = await this.#records(filter, { _id: 1 }, { limit: versions.size, maxBytes: Infinity });
    const slice = new TimeSlice();
    for (const record of records) {
      if (record.version !== versions.get(record.id)) continue;
      rendered.set(record.id, await jsonBytes(renderCandidate(record)));
      if (slice.isOver()) await slice.next();
    }
    return rendered;
  }

  /**
   * Reads up to `limit` records, or fewer if they have more than `maxBytes`, but at least one. One round trip, or two if
   * the records have more than 16 MiB.
   */
  #records(
    filter: Filter<Stored>,
    sort: Record<string, 1>,
    { limit, maxBytes }: { limit: number; maxBytes: number },
  ): Promise<CandidateRecord[]> {
    return this.#mongo.bounded("find candidates", async (limits) => {
      const records: CandidateRecord[] = [];
      let bytes = 0;
      const slice = new TimeSlice();
      // Raw records, because the driver would decode the whole answer at once, of up to 16 MiB.
      const options = { ...limits, sort, limit, batchSize: limit + 1, raw: true, projection: RECORD_MEMBERS } as const;
      for await (const raw of this.#candidates.find<Uint8Array>(filter, options)) {
        if (slice.isOver()) await slice.next();
        const stored = BSON.deserialize(raw) as Stored;
        bytes += stored.size;
        if (records.length > 0 && bytes > maxBytes) return records;
        records.push(decode(stored));
      }
      return records;
    });
  }

  /**
   * Reads candidates of all accounts whose next_expiry is before that day, the most overdue first: up to `limit`, or fewer
   * if they are too large together. One index range.
   */
  expiring(before: string, limit: number): Promise<CandidateRecord[]> {
    // With both bounds MongoDB uses the partial index.
    const filter = { next_expiry: { $gt: "", $lt: before } };
    return this.#records(filter, { next_expiry: 1 }, { limit, maxBytes: MAX_EXPIRING_BYTES });
  }

  /** Finds candidates of all accounts whose erasures, or those of their parts, are not finished, oldest first. One index range. */
  unfinishedErasures(limit: number): Promise<CandidateKey[]> {
    return this.#oldest({ "erasure.at": { $gt: "" } }, { "erasure.at": 1 }, limit);
  }

  async #oldest(filter: Filter<Stored>, sort: Record<string, 1>, limit: number): Promise<CandidateKey[]> {
    const found = await this.#mongo.bounded("find candidates", (limits) =>
      this.#candidates
        .find(filter, { ...limits, sort, limit, batchSize: limit + 1, projection: { account: 1 } })
        .toArray(),
    );
    return found.map(({ _id, account }) => ({ accountId: account, id: _id }));
  }

  /**
   * Notes that an erasure is finished. The row in the feed stays as it is. Does nothing if another deletion was made
   * meanwhile. One round trip.
   */
  async erasureFinished({ accountId, id }: CandidateKey, { at }: Erasure): Promise<void> {
    await this.#mongo.bounded("update candidates", (limits) =>
      this.#candidates.updateOne(
        { _id: id, account: accountId, "erasure.at": at },
        { $unset: { erasure: "" } },
        limits,
      ),
    );
  }
}

function filterOf({ accountId, after, state, external_id }: FeedQuery): Filter<Stored> {
  return {
    account: equals(accountId),
    change: { $gt: after },
    ...(state === undefined ? {} : { state: equals(state) }),
    ...(external_id === undefined ? {} : { external_id: equals(external_id) }),
  };
}
