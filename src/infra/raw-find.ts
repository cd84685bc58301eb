import { type Db, type Document, type Filter, Long, MongoError, MongoNetworkError } from "mongodb";
import type { Limits } from "./mongo.ts";

export interface RawQuery<Stored extends Document> {
  readonly collection: string;
  readonly filter: Filter<Stored>;
  readonly sort?: Readonly<Record<string, 1>>;
  readonly projection: Readonly<Record<string, 0 | 1>>;
  readonly limit: number;
}

export interface RawBatch {
  /** Each document in BSON, a view of the answer. */
  readonly documents: readonly Buffer[];
  /** True if there are more documents, up to the limit, that did not fit into one answer of 16 MiB. */
  readonly cut: boolean;
}

interface Cursor {
  readonly firstBatch: readonly Buffer[];
  /** 0 if the server has closed it. */
  readonly id: Long | number;
}

/** Codes after which the driver repeats a cursor's read: the server stops, cannot be reached, or is no longer the primary. */
const PASSING_CODES = new Set<unknown>([6, 7, 89, 91, 134, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436]);

/**
 * Finds documents and returns them undecoded. The driver's cursors make a dozen objects of each document, also with `raw`:
 * for 200 small documents that costs more than the rest of the request. One round trip; two if the batch is cut.
 */
export async function findRaw<Stored extends Document>(
  db: Db,
  { collection, filter, sort, projection, limit }: RawQuery<Stored>,
  { signal, maxTimeMS, ignoreUndefined }: Limits,
): Promise<RawBatch> {
  // Not `raw`: the driver would leave errors undecoded too, and could not tell from them that the primary has changed.
  const options = { signal, ignoreUndefined, fieldsAsRaw: { firstBatch: true } };
  const command = () => ({
    find: collection,
    filter,
    ...(sort === undefined ? {} : { sort }),
    projection,
    limit,
    batchSize: limit + 1, // with one more than the limit, the server closes the cursor by itself
    readConcern: { level: db.readConcern?.level },
    maxTimeMS,
  });
  const reply = await db.command(command(), options).catch((error: unknown) => {
    if (!isPassing(error)) throw error;
    return db.command(command(), options);
  });
  const { firstBatch, id } = reply["cursor"] as Cursor;
  const cut = Number(id) !== 0;
  // The server refuses an id that is sent as a double. If this fails, it ends the cursor after ten minutes.
  if (cut)
    await db.command({ killCursors: collection, cursors: [Long.fromValue(id)] }, { signal }).catch(() => undefined);
  return { documents: firstBatch, cut };
}

/** Returns whether a read may be sent again, to the next primary. The driver does so itself for its cursors, also once. */
function isPassing(error: unknown): boolean {
  return error instanceof MongoNetworkError || (error instanceof MongoError && PASSING_CODES.has(error.code));
}
