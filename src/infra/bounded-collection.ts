import type { AnyBulkWriteOperation, Collection, Document, Filter, FindOptions, UpdateFilter } from "mongodb";
import type { OptionalUnlessRequiredId, UpdateOptions, WithId, WithoutId } from "mongodb";
import { isDuplicateKey, type Limits, type Mongo } from "./mongo.ts";

/** Documents that are deleted, or written, at once, so that each operation stays short. */
const DELETED_AT_ONCE = 500;
const WRITTEN_AT_ONCE = 1_000;

/**
 * A collection of MongoDB. Every operation is one round trip with the limits of `Mongo.bounded`, and may throw problem
 * store_unavailable; a write may still have happened then. Those that return a boolean tell whether the document was there.
 */
export class BoundedCollection<Stored extends Document> {
  readonly #mongo: Mongo;
  readonly #collection: Collection<Stored>;

  constructor(mongo: Mongo, name: string) {
    this.#mongo = mongo;
    this.#collection = mongo.db.collection(name);
  }

  findOne(filter: Filter<Stored>, options?: FindOptions): Promise<Stored | null> {
    return this.#run("find", (limits) => this.#collection.findOne<Stored>(filter, { ...options, ...limits }));
  }

  /** Without a limit, every 16 MiB after the first 101 documents take one more round trip. */
  find<Found extends Document = Stored>(filter: Filter<Stored>, options: FindOptions = {}): Promise<Found[]> {
    // With one more than the limit, the server closes the cursor by itself.
    const batch = options.limit === undefined ? {} : { batchSize: options.limit + 1 };
    return this.#run("find", (limits) =>
      this.#collection.find<Found>(filter, { ...batch, ...options, ...limits }).toArray(),
    );
  }

  /** For a result that fits into one batch: the first 101 documents. */
  aggregate<Found extends Document>(pipeline: Document[]): Promise<Found[]> {
    return this.#run("find", (limits) => this.#collection.aggregate<Found>(pipeline, limits).toArray());
  }

  async insertOne(document: OptionalUnlessRequiredId<Stored>): Promise<void> {
    await this.#run("insert", (limits) => this.#collection.insertOne(document, limits));
  }

  /** Returns false if the id, or another unique value, is taken. */
  insertIfAbsent(document: OptionalUnlessRequiredId<Stored>): Promise<boolean> {
    return unlessTaken(this.insertOne(document));
  }

  /** Inserts documents one after the other, and ends at the first that fails. Returns false if an id, or another unique value, is taken. */
  insertInOrder(documents: readonly OptionalUnlessRequiredId<Stored>[]): Promise<boolean> {
    const run = (limits: Limits) => this.#collection.insertMany(documents, { ...limits, ordered: true });
    return unlessTaken(this.#run("insert", run));
  }

  async updateOne(filter: Filter<Stored>, update: UpdateFilter<Stored>, options?: UpdateOptions): Promise<boolean> {
    const run = (limits: Limits) => this.#collection.updateOne(filter, update, { ...options, ...limits });
    return (await this.#run("update", run)).matchedCount === 1;
  }

  /** Updates a document, or creates it. Returns the new document. */
  async upserted(filter: Filter<Stored>, update: UpdateFilter<Stored>): Promise<WithId<Stored>> {
    const options = { upsert: true, returnDocument: "after" } as const;
    const run = (limits: Limits) => this.#collection.findOneAndUpdate(filter, update, { ...options, ...limits });
    return (await this.#run("update", run))!;
  }

  async updateMany(filter: Filter<Stored>, update: UpdateFilter<Stored>): Promise<void> {
    await this.#run("update", (limits) => this.#collection.updateMany(filter, update, limits));
  }

  async replaceOne(filter: Filter<Stored>, replacement: WithoutId<Stored>): Promise<boolean> {
    const run = (limits: Limits) => this.#collection.replaceOne(filter, replacement, limits);
    return (await this.#run("update", run)).matchedCount === 1;
  }

  /**
   * Makes all writes, in any order, with one round trip for every 1,000. If some of these fail, the others are made. Returns the
   * number of documents that were inserted, or there to be updated.
   */
  async write(kind: "insert" | "update", writes: readonly AnyBulkWriteOperation<Stored>[]): Promise<number> {
    let count = 0;
    for (let first = 0; first < writes.length; first += WRITTEN_AT_ONCE) {
      const batch = writes.slice(first, first + WRITTEN_AT_ONCE);
      const run = (limits: Limits) => this.#collection.bulkWrite(batch, { ...limits, ordered: false });
      const { insertedCount, matchedCount } = await this.#run(kind, run);
      count += insertedCount + matchedCount;
    }
    return count;
  }

  async deleteOne(filter: Filter<Stored>): Promise<boolean> {
    return (await this.#run("delete", (limits) => this.#collection.deleteOne(filter, limits))).deletedCount === 1;
  }

  async deleteMany(filter: Filter<Stored>): Promise<number> {
    return (await this.#run("delete", (limits) => this.#collection.deleteMany(filter, limits))).deletedCount;
  }

  /** Deletes what matches, a batch at a time: an operation has a time limit. Ends early if `stop` is aborted. Returns the count. */
  async deleteInBatches(filter: Filter<Stored>, stop: AbortSignal): Promise<number> {
    for (let deleted = 0; ;) {
      const found = await this.find(filter, { projection: { _id: 1 }, limit: DELETED_AT_ONCE });
      if (found.length === 0 || stop.aborted) return deleted;
      // Check the filter again: another document may have taken the place of one that was found.
      deleted += await this.deleteMany({ ...filter, _id: { $in: found.map(({ _id }) => _id) } });
    }
  }

  #run<T>(kind: "find" | "insert" | "update" | "delete", operation: (limits: Limits) => Promise<T>): Promise<T> {
    return this.#mongo.bounded(`${kind} ${this.#collection.collectionName}`, operation);
  }
}

async function unlessTaken(insert: Promise<unknown>): Promise<boolean> {
  try {
    await insert;
    return true;
  } catch (error) {
    if (isDuplicateKey(error)) return false;
    throw error;
  }
}

/** Returns the condition that a field equals a text. For a bare text, the stand-in (src/dev/mongo.ts) uses no index. */
export function equals<const T extends string>(text: T): { readonly $eq: T } {
  return { $eq: text };
}
