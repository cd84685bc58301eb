import { isDuplicateKey, type Mongo } from "./mongo.ts";

/** The form that a version writes, and the forms that it can read. */
interface Form {
  readonly writes: number;
  readonly reads: readonly number[];
}

/**
 * The forms in which data is stored: `store` for the documents in MongoDB, `limiter` for the keys in Redis. Raise
 * `writes` if processes of earlier versions must not start on the data that this version writes, and keep the form
 * before it in `reads`. 0.1.0 wrote form 1 of both, without the mark.
 *
 * A process that already runs does not look again. So a counter of a new form must keep its key and change its value: a
 * script that cannot read a counter charges nothing, and its process answers 503. Under a new key it would count apart,
 * and admit up to twice the limit.
 */
const FORMS: Readonly<Record<string, Form>> = {
  store: { writes: 1, reads: [1] },
  limiter: { writes: 1, reads: [1] },
};

interface Mark extends Record<string, unknown> {
  _id: "forms";
}

/**
 * Checks that this version can read the data, before anything reads it. The collection `meta` holds one mark for both
 * servers, because Redis may start empty. A database without the mark gets it, and an older mark is raised. One round
 * trip; two to three if the mark is written.
 * @throws {Error} with one line that says which form was found, which ones are known, and what to do.
 */
export async function checkForms(mongo: Mongo, forms = FORMS): Promise<void> {
  const met = (await readMark(mongo)) ?? (await writeMark(mongo, forms));
  for (const [what, form] of Object.entries(met)) {
    const reads: readonly unknown[] = forms[what]?.reads ?? [];
    if (reads.includes(form)) continue;
    throw new Error(
      `The database "${mongo.db.databaseName}" holds form ${String(form)} of the ${what}, and this version knows ` +
        `${reads.length === 0 ? "none" : `form ${reads.join(" or ")} only`}. Start a version that knows it, or restore ` +
        "a backup from before the upgrade; CHANGELOG.md says which version changed the form.",
    );
  }
  const written = writtenBy(forms);
  if (Object.entries(written).every(([what, form]) => met[what] === form)) return;
  const { matchedCount } = await mongo.bounded("update meta", (limits) =>
    marksOf(mongo).updateOne({ _id: "forms", ...met }, { $set: written }, limits),
  );
  if (matchedCount === 0) await checkForms(mongo, forms); // another process has changed it meanwhile
}

function writtenBy(forms: Readonly<Record<string, Form>>): Record<string, number> {
  return Object.fromEntries(Object.entries(forms).map(([what, { writes }]) => [what, writes]));
}

async function readMark(mongo: Mongo): Promise<Record<string, unknown> | undefined> {
  const mark = await mongo.bounded("find meta", (limits) => marksOf(mongo).findOne({ _id: "forms" }, limits));
  if (mark === null) return undefined;
  const { _id, ...forms } = mark;
  return forms;
}

/** Returns the mark that is then in force. If several processes start at once, one of them writes it. */
async function writeMark(mongo: Mongo, forms: Readonly<Record<string, Form>>): Promise<Record<string, unknown>> {
  try {
    await mongo.bounded("insert meta", (limits) =>
      marksOf(mongo).insertOne({ _id: "forms", ...writtenBy(forms) }, limits),
    );
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
  }
  return (await readMark(mongo)) ?? {};
}

function marksOf({ db }: Mongo) {
  return db.collection<Mark>("meta");
}
