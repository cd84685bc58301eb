import type { Db, IndexDescription } from "mongodb";
import { connectMongo, type MongoOptions } from "./mongo.ts";

/** The indexes of one collection, in the words of MongoDB's createIndexes. */
export type CollectionIndexes = Readonly<{ collection: string; indexes: readonly IndexDescription[] }>;
export type Indexed = Readonly<{ indexes: readonly CollectionIndexes[] }>;

interface PrepareOptions extends Pick<MongoOptions, "url" | "timeoutMs"> {
  log: { info(fields: object, message: string): void };
  /** Pause between reports of the progress, in milliseconds. */
  reportMs?: number;
}

/** Creates the indexes that are missing. Safe to repeat, and to run in several processes at once. */
export async function createIndexes(db: Db, stores: readonly Indexed[]): Promise<void> {
  for (const { collection, indexes } of stores.flatMap((store) => store.indexes))
    await db.collection(collection).createIndexes([...indexes]);
}

/** Creates missing indexes, without a time limit, and logs the progress. Fails if a primary is elected meanwhile. */
export async function prepareStores(stores: readonly Indexed[], options: PrepareOptions): Promise<void> {
  const { url, timeoutMs, log, reportMs = 5_000 } = options;
  const mongo = await connectMongo({ url, timeoutMs, operationTimeoutMs: 0 });
  const begun = performance.now();
  const report = setInterval(() => {
    void progressOf(mongo.client.db("admin")).then((building) =>
      log.info({ seconds: Math.round((performance.now() - begun) / 1000), building }, "still creating indexes"),
    );
  }, reportMs);
  try {
    await createIndexes(mongo.db, stores);
  } finally {
    clearInterval(report);
    await mongo.close();
  }
}

/** Returns the progress of the server's index builds, in words. Empty if it does not say, or this user may not ask. */
async function progressOf(admin: Db): Promise<string[]> {
  const asked = { currentOp: 1, "command.createIndexes": { $exists: true } };
  const { inprog = [] } = (await admin.command(asked).catch(() => ({}))) as {
    inprog?: { ns?: string; progress?: { done: number; total: number } }[];
  };
  return inprog.flatMap(({ ns, progress }) =>
    progress === undefined ? [] : [`${ns ?? "an index"}: ${progress.done} of ${progress.total}`],
  );
}
