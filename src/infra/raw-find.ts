import { type Db, type Document, type Filter, Long } from "mongodb";
import { isPassing, type Limits } from "./mongo.ts";

export interface RawQuery<Stored extends Document> {
  readonly collection: string;
  readonly filter: Filter<Stored>;
  readonly sort?: Readonly<Record<string, 1 | -1>>;
  readonly projection: Readonly<Record<string, 0 | 1>>;
  readonly limit: number;
}

/**
 * Finds documents and returns them undecoded. The driver's cursors make a dozen objects of each document, also with `raw`:
 * for 200 small documents that costs more than the rest of the request. One round trip; two if the batch is cut.
 * @returns `documents`: each in BSON, a view of the reply. `cut`: whether there are more, up to the limit, that did not fit
 * into one reply of 16 MiB.
 */
export async function findRaw<Stored extends Document>(
  db: Db,
  { collection, filter, sort, projection, limit }: RawQuery<Stored>,
  { signal, maxTimeMS, ignoreUndefined }: Limits,
) {
  // Not `raw`: the driver would leave errors undecoded too, and could not tell from them that the primary has changed.
  const options = { signal, ignoreUndefined, fieldsAsRaw: { firstBatch: true } };
  const batchSize = limit + 1; // with one more than the limit, the server closes the cursor by itself
  const readConcern = { level: db.readConcern?.level };
  const read = { filter, ...(sort && { sort }), projection, limit, batchSize, readConcern, maxTimeMS };
  const find = () => db.command({ find: collection, ...read }, options);
  const reply = await find().catch((error: unknown) => {
    if (!isPassing(error)) throw error; // the driver repeats the read of a cursor likewise, also once
    return find();
  });
  const { firstBatch, id } = reply["cursor"] as { firstBatch: Buffer[]; id: Long | number };
  const cut = Number(id) !== 0; // the server closes a cursor that it has read to the end
  // The server refuses an id that is sent as a double. If this fails, it ends the cursor after ten minutes.
  if (cut)
    await db.command({ killCursors: collection, cursors: [Long.fromValue(id)] }, { signal }).catch(() => undefined);
  return { documents: firstBatch, cut };
}
