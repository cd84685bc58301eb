import type { Collection } from "mongodb";
import { isDuplicateKey, type Mongo, within } from "../infra/mongo.ts";
import type { ReferenceRecord } from "./record.ts";

interface ReferenceEntry {
  _id: string;
  account: string;
  candidate: string;
}

/** Maps references to their candidates. An entry is written before its reference, so the reference may not exist. */
export class ReferenceIndexStore {
  readonly #mongo: Mongo;
  readonly #entries: Collection<ReferenceEntry>;

  constructor(mongo: Mongo) {
    this.#mongo = mongo;
    this.#entries = mongo.db.collection("reference_index");
  }

  /**
   * Adds entries for a candidate's references. One round trip; none without references.
   * @throws problem store_unavailable
   */
  async add(
    { accountId, id }: { accountId: string; id: string },
    references: readonly ReferenceRecord[],
  ): Promise<void> {
    if (references.length === 0) return;
    const entries = references.map((reference) => ({ _id: reference.id, account: accountId, candidate: id }));
    try {
      await this.#mongo.bounded("insert reference_index", (signal) =>
        this.#entries.insertMany(entries, { ...within(signal), ordered: false }),
      );
    } catch (error) {
      // A retry of an interrupted attempt uses the same ids, so their entries exist already.
      if (!isDuplicateKey(error)) throw error;
    }
  }

  /** Removes entries. One round trip; none without references. @throws problem store_unavailable */
  async remove(accountId: string, referenceIds: readonly string[]): Promise<void> {
    if (referenceIds.length === 0) return;
    const entries = { _id: { $in: [...referenceIds] }, account: accountId };
    await this.#mongo.bounded("delete reference_index", (signal) => this.#entries.deleteMany(entries, within(signal)));
  }

  /**
   * Returns the id of the reference's candidate. Undefined if there is no entry, or if it belongs to another account.
   * One round trip.
   * @throws problem store_unavailable
   */
  async candidateOf(accountId: string, referenceId: string): Promise<string | undefined> {
    const entry = await this.#mongo.bounded("find reference_index", (signal) =>
      this.#entries.findOne({ _id: referenceId, account: accountId }, { signal }),
    );
    return entry?.candidate;
  }
}
