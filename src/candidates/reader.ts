import { BSON, type Collection, type Filter } from "mongodb";
import type { CollectionIndexes } from "../infra/indexes.ts";
import type { Mongo } from "../infra/mongo.ts";
import { Stretch } from "../infra/turns.ts";
import { problem } from "../problems.ts";
import type { FeedPage, FeedQuery } from "./feed.ts";
import type { CandidateRecord, Erasure } from "./record.ts";
import { decode, decodeTombstone, type Stored } from "./stored.ts";
import { candidateDeleted, isTombstone, type Tombstone } from "./tombstone.ts";

/** A page of the feed has at most this many bytes, but always at least one row. */
const MAX_PAGE_BYTES = 4 * 1024 * 1024;

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
  ],
};

/** Their candidates are written in one command, which the driver encodes in one go. */
const MAX_EXPIRING_BYTES = 512 * 1024;

/** Identifies a candidate. */
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
    const stored = await this.#mongo.bounded("find candidates", (limits) =>
      this.#candidates.findOne({ _id: id, account: accountId }, limits),
    );
    return stored === null ? null : (decodeTombstone(stored) ?? decode(stored));
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
      this.#candidates.findOne({ account: accountId, external_id }, { ...limits, projection: { _id: 1 } }),
    );
    return holder?._id;
  }

  /**
   * Reads a page of the account's feed, oldest change first: up to `limit` rows, or fewer if they are too large for one
   * answer. One index range, however many candidates there are. One round trip, or two if the rows are larger than 16 MiB.
   */
  feed({ accountId, after, state, external_id, limit }: FeedQuery): Promise<FeedPage> {
    const filter: Filter<Stored> = {
      account: accountId,
      change: { $gt: after },
      ...(state === undefined ? {} : { state }),
      ...(external_id === undefined ? {} : { external_id }),
    };
    const rowOf = (stored: Stored) => ({
      record: decodeTombstone(stored) ?? decode(stored),
      change: stored.change,
    });
    return this.#rows(filter, { change: 1 }, limit, { rowOf, maxBytes: MAX_PAGE_BYTES });
  }

  /**
   * Reads up to `limit` rows, or fewer if they have more than `maxBytes`, but at least one. One round trip, or two if the
   * rows have more than 16 MiB.
   */
  #rows<Row>(
    filter: Filter<Stored>,
    sort: Record<string, 1>,
    limit: number,
    { rowOf, maxBytes }: { rowOf: (stored: Stored) => Row; maxBytes: number },
  ): Promise<{ rows: Row[]; more: boolean }> {
    return this.#mongo.bounded("find candidates", async (limits) => {
      const rows: Row[] = [];
      let bytes = 0;
      const stretch = new Stretch();
      // Raw rows, because the driver would decode the whole answer at once, of up to 16 MiB.
      const options = { ...limits, sort, limit: limit + 1, batchSize: limit + 1, raw: true } as const;
      const found: AsyncIterable<unknown> = this.#candidates.find(filter, options);
      for await (const raw of found as AsyncIterable<Uint8Array>) {
        if (stretch.isOver()) await stretch.nextTurn();
        const stored = BSON.deserialize(raw) as Stored;
        bytes += stored.size;
        if (rows.length === limit || (rows.length > 0 && bytes > maxBytes)) return { rows, more: true };
        rows.push(rowOf(stored));
      }
      return { rows, more: false };
    });
  }

  /**
   * Reads candidates of all accounts whose next_expiry is before that day, the most overdue first: up to `limit`, or fewer
   * if they are too large together. One index range.
   */
  async expiring(before: string, limit: number): Promise<CandidateRecord[]> {
    // With both bounds MongoDB uses the partial index.
    const filter = { next_expiry: { $gt: "", $lt: before } };
    const options = { rowOf: decode, maxBytes: MAX_EXPIRING_BYTES };
    return (await this.#rows(filter, { next_expiry: 1 }, limit, options)).rows;
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
