import { randomBytes, randomFillSync } from "node:crypto";
import type { Collection } from "mongodb";
import { feedPosition } from "../../src/candidates/feed-clock.ts";
import type { Stored } from "../../src/candidates/stored.ts";
import { typeId } from "../../src/infra/ids.ts";
import type { Client } from "./client.ts";
import type { Operators } from "./operators.ts";

const NUMBER = "nnnn";
const BEGIN = Date.parse("2026-01-05T08:00:00Z");
/** Time between two copies, in milliseconds. */
const GAP_MS = 37;

export interface Copies {
  readonly count: number;
  /** What is copied. */
  readonly body?: object;
  /** What is stored otherwise, in each copy. */
  readonly changes?: Partial<Stored>;
}

/** A candidate with 5 documents and 3 references. Copies have their number in place of NUMBER. */
export const TYPICAL = {
  external_id: `row-${NUMBER}`,
  name: `Ada Lovelace ${NUMBER}`,
  email: `ada.${NUMBER}@example.com`,
  documents: Array.from({ length: 5 }, (_, m) => `Document ${m} of ${NUMBER}`),
  references: Array.from({ length: 3 }, (_, m) => ({
    name: `Referee ${m}`,
    email: `referee.${m}.${NUMBER}@example.com`,
  })),
};

/**
 * Creates one candidate through the API and stores copies of it, long ago, so that the cursor stands still: no key could
 * create so many. The ids of each copy and of its parts are its own.
 * @returns their ids, in the feed's order.
 */
export async function createCopies(
  { mongo }: Pick<Operators, "mongo">,
  client: Pick<Client, "post">,
  { count, body = TYPICAL, changes = {} }: Copies,
): Promise<string[]> {
  const candidates: Collection<Stored> = mongo.db.collection("candidates");
  const { id } = (await client.post("/candidates", body)).body;
  const stored = JSON.stringify(await candidates.findOneAndDelete({ _id: id }));
  const copies = Array.from({ length: count }, (_, n) => {
    const ids = new Map<string, string>();
    const at = BEGIN + n * GAP_MS;
    const bytes = randomBytes(16);
    const text = stored
      .replaceAll(/\b(cand|doc|ref)_[0-9a-z]{26}/g, (old, prefix: "cand" | "doc" | "ref") => {
        randomFillSync(bytes, 10); // those of one request have the bytes before it in common
        const id = ids.get(old) ?? typeId(prefix, at, bytes);
        ids.set(old, id);
        return id;
      })
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, new Date(at).toISOString())
      .replaceAll(NUMBER, String(n).padStart(4, "0"));
    const copy = JSON.parse(text) as Stored;
    return { ...copy, change: `${feedPosition(at)}.${copy._id}`, ...changes };
  });
  for (let n = 0; n < count; n += 100) await candidates.insertMany(copies.slice(n, n + 100));
  return copies.map(({ _id }) => _id);
}
