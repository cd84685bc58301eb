import { BoundedCollection } from "./bounded-collection.ts";
import type { Mongo } from "./mongo.ts";

/**
 * The schema versions that this release writes, and those that it can read: `store` is for the documents in MongoDB,
 * `limiter` for the keys in Redis. Raise `writes` if processes of earlier releases must not start on the data that this one
 * writes, and keep the version before it in `reads`.
 *
 * A running process does not check again. So a counter of a new version must keep its key and change its value: a script
 * that cannot read it charges nothing, and its process responds with 503. Under a new key, the limit could be used twice.
 */
const VERSIONS: Readonly<Record<string, { readonly writes: number; readonly reads: readonly number[] }>> = {
  store: { writes: 1, reads: [1] },
  limiter: { writes: 1, reads: [1] },
};

/**
 * Checks that this release can read the data. The collection `meta` holds one mark for both servers, because Redis may
 * start empty. A database without the mark gets it, and an older mark is raised.
 * @throws {Error} with one line that says which version was found, which ones are known, and what to do.
 */
export async function checkSchemaVersion(mongo: Mongo, versions = VERSIONS): Promise<void> {
  const meta = new BoundedCollection<{ _id: "forms"; [what: string]: unknown }>(mongo, "meta");
  const written = Object.fromEntries(Object.entries(versions).map(([what, { writes }]) => [what, writes]));
  const mark = await meta.findOne({ _id: "forms" });
  if (mark === null) {
    await meta.insertIfAbsent({ _id: "forms", ...written });
    return checkSchemaVersion(mongo, versions);
  }
  const { _id, ...found } = mark;
  for (const [what, version] of Object.entries(found)) {
    const reads: readonly unknown[] = versions[what]?.reads ?? [];
    if (reads.includes(version)) continue;
    throw new Error(
      `The database "${mongo.db.databaseName}" holds schema version ${String(version)} of the ${what}, and this release ` +
        `knows ${reads.length === 0 ? "none" : `${reads.join(" or ")} only`}. Start a release that knows it, or restore ` +
        "a backup from before the upgrade; CHANGELOG.md says which release changed the schema version.",
    );
  }
  if (Object.entries(written).every(([what, version]) => found[what] === version)) return;
  const raised = await meta.updateOne({ _id, ...found }, { $set: written });
  if (!raised) await checkSchemaVersion(mongo, versions); // another process has changed it in between
}
