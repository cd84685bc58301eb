import type { Collection } from "mongodb";
import { isDuplicateKey, type Mongo, within } from "../infra/mongo.ts";
import type { ReferenceRecord } from "./record.ts";

interface ReferenceEntry {
  _id: string;
  account: string;
  candidate: string;
}

/** Which candidate a reference is of. Entries are made before their references, so one may be of a reference that never came. */
export class ReferenceIndexStore {
  readonly #mongo: Mongo;
  readonly #entries: Collection<ReferenceEntry>;

  constructor(mongo: Mongo) {
    this.#mongo = mongo;
    this.#entries = mongo.db.collection("reference_index");
  }

  /** One round trip; none without references. @throws problem store_unavailable. */
  async add({ account, id }: { account: string; id: string }, references: readonly ReferenceRecord[]): Promise<void> {
    if (references.length === 0) return;
    const entries = references.map((reference) => ({ _id: reference.id, account, candidate: id }));
    try {
      await this.#mongo.bounded((signal) => this.#entries.insertMany(entries, { ...within(signal), ordered: false }));
    } catch (error) {
      // A retry of what was interrupted brings the same ids: their entries are there already.
      if (!isDuplicateKey(error)) throw error;
    }
  }

  /** The candidate's id, or undefined: also where it is another account's. One round trip. @throws problem store_unavailable. */
  async candidateOf(account: string, referenceId: string): Promise<string | undefined> {
    const entry = await this.#mongo.bounded((signal) => this.#entries.findOne({ _id: referenceId, account }, { signal }));
    return entry?.candidate;
  }
}
