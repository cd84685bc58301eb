import { BoundedCollection } from "../infra/bounded-collection.ts";
import { isDuplicateKey, type Mongo } from "../infra/mongo.ts";
import { Problem } from "../problems.ts";
import type { CandidateKey, ReferenceRecord } from "./record.ts";
import { referenceNotFound } from "./references.ts";

interface ReferenceEntry {
  _id: string;
  account: string;
  candidate: string;
}

/**
 * Maps references to their candidates. An entry is written before its reference, so the reference may not exist. Every method
 * takes at most one round trip, and may throw problem store_unavailable.
 */
export class ReferenceIndexStore {
  readonly #entries: BoundedCollection<ReferenceEntry>;

  constructor(mongo: Mongo) {
    this.#entries = new BoundedCollection(mongo, "reference_index");
  }

  /**
   * Adds entries for new references of a candidate, then runs the write that adds the references. Removes the entries
   * again if the write is refused.
   */
  async around<Written>(
    { accountId, id }: CandidateKey,
    references: readonly ReferenceRecord[],
    write: () => Promise<Written>,
  ): Promise<Written> {
    if (references.length === 0) return write();
    const ids = references.map((reference) => reference.id);
    await this.add(ids.map((each) => ({ accountId, candidateId: id, id: each })));
    try {
      return await write();
    } catch (error) {
      const refused = error instanceof Problem && error.code !== "store_unavailable";
      if (refused) await this.remove(accountId, ids).catch(() => undefined);
      throw error;
    }
  }

  /** Adds entries for new references. */
  async add(references: readonly { accountId: string; candidateId: string; id: string }[]): Promise<void> {
    const inserts = references.map(({ id: _id, accountId: account, candidateId: candidate }) => ({
      insertOne: { document: { _id, account, candidate } },
    }));
    try {
      await this.#entries.write("insert", inserts);
    } catch (error) {
      // A retry of an interrupted attempt uses the same ids, so their entries exist already.
      if (!isDuplicateKey(error)) throw error;
    }
  }

  async remove(accountId: string, referenceIds: readonly string[]): Promise<void> {
    if (referenceIds.length === 0) return;
    await this.#entries.deleteMany({ _id: { $in: [...referenceIds] }, account: accountId });
  }

  /** Returns the id of the reference's candidate. @throws problem not_found without an entry in this account. */
  async candidateOf(accountId: string, referenceId: string): Promise<string> {
    const entry = await this.#entries.findOne({ _id: referenceId, account: accountId });
    if (entry === null) throw referenceNotFound(referenceId);
    return entry.candidate;
  }
}
