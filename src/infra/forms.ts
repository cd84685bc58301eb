import { isDuplicateKey, type Mongo, within } from "./mongo.ts";

/**
 * The forms in which this version stores data: `store` for the documents in MongoDB, `limiter` for the keys in Redis.
 * Raise a number in the release after which a process of an earlier version must not start on the data any more. 0.1.0
 * wrote form 1 of both, without the mark.
 *
 * A process that already runs does not look again. So a counter of a new form must keep its key and change its value: a
 * script that cannot read a counter charges nothing, and its process answers 503. Under a new key it would count apart,
 * and admit up to twice the limit.
 */
const FORMS = { store: 1, limiter: 1 };

interface Mark extends Record<string, unknown> {
  _id: "forms";
}

/**
 * Checks that this version knows the forms of the data, before anything reads it. The collection `meta` holds one mark
 * for both servers, because Redis may start empty. A database without the mark gets it. One round trip; three the first
 * time.
 * @throws {Error} with one line that says which form was met, which one is known, and what to do.
 */
export async function checkForms(mongo: Mongo): Promise<void> {
  const met = (await readMark(mongo)) ?? (await writeMark(mongo));
  for (const [what, form] of Object.entries(met)) {
    const known = FORMS[what as keyof typeof FORMS] as number | undefined;
    if (form === known) continue;
    throw new Error(
      `The database "${mongo.db.databaseName}" holds form ${String(form)} of the ${what}, and this version knows ` +
        `${known === undefined ? "none" : `form ${known} only`}. Start a version that knows it, or restore a backup ` +
        "from before the upgrade; CHANGELOG.md says which version changed the form.",
    );
  }
}

async function readMark(mongo: Mongo): Promise<Record<string, unknown> | undefined> {
  const mark = await mongo.bounded("find meta", (signal) => marksOf(mongo).findOne({ _id: "forms" }, { signal }));
  if (mark === null) return undefined;
  const { _id, ...forms } = mark;
  return forms;
}

/** Returns the mark that is then in force: of several first starts at once, one writes it. */
async function writeMark(mongo: Mongo): Promise<Record<string, unknown>> {
  try {
    await mongo.bounded("insert meta", (signal) =>
      marksOf(mongo).insertOne({ _id: "forms", ...FORMS }, within(signal)),
    );
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
  }
  return (await readMark(mongo)) ?? {};
}

function marksOf({ db }: Mongo) {
  return db.collection<Mark>("meta");
}
