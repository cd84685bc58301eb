import { LRUCache } from "lru-cache";
import { BoundedCollection } from "../infra/bounded-collection.ts";
import { isDuplicateKey, type Mongo } from "../infra/mongo.ts";
import { Problem } from "../problems.ts";
import type { ReferenceRecord } from "./record.ts";

interface ReferenceEntry {
  _id: string;
  account: string;
  candidate: string;
}

/** Entries in memory: identifiers only, about 200 bytes each. */
const MAX_KNOWN = 10_000;

/**
 * Maps references to their candidates. An entry is written before its reference, so the reference may not exist. Every method
 * takes at most one round trip, and may throw problem store_unavailable.
 */
export class ReferenceIndexStore {
  readonly #entries: BoundedCollection<ReferenceEntry>;
  /** From account and reference to candidate. An entry never changes, but its reference may be deleted. */
  readonly #known = new LRUCache<string, string>({ max: MAX_KNOWN });

  constructor(mongo: Mongo) {
    this.#entries = new BoundedCollection(mongo, "reference_index");
  }

  /**
   * Adds entries for new references of a candidate, then runs the write that adds the references. Removes the entries
   * again if the write is refused.
   */
  async around<Written>(
    { accountId, id }: { accountId: string; id: string },
    references: readonly ReferenceRecord[],
    write: () => Promise<Written>,
  ): Promise<Written> {
    if (references.length === 0) return write();
    await this.#add(references.map((reference) => ({ _id: reference.id, account: accountId, candidate: id })));
    try {
      return await write();
    } catch (error) {
      const refused = error instanceof Problem && error.code !== "store_unavailable";
      const ids = references.map((reference) => reference.id);
      if (refused) await this.remove(accountId, ids).catch(() => undefined);
      throw error;
    }
  }

  async #add(entries: ReferenceEntry[]): Promise<void> {
    try {
      await this.#entries.write(
        "insert",
        entries.map((document) => ({ insertOne: { document } })),
      );
    } catch (error) {
      // A retry of an interrupted attempt uses the same ids, so their entries exist already.
      if (!isDuplicateKey(error)) throw error;
    }
    for (const { _id, account, candidate } of entries) this.#known.set(`${account} ${_id}`, candidate);
  }

  /** Does what `candidateOf` does, from memory if this process has found the entry before. The reference may be deleted since. */
  async recentCandidateOf(accountId: string, referenceId: string): Promise<string | undefined> {
    return this.#known.get(`${accountId} ${referenceId}`) ?? this.candidateOf(accountId, referenceId);
  }

  async remove(accountId: string, referenceIds: readonly string[]): Promise<void> {
    if (referenceIds.length === 0) return;
    await this.#entries.deleteMany({ _id: { $in: [...referenceIds] }, account: accountId });
  }

  /** Returns the id of the reference's candidate. Undefined without an entry in this account. */
  async candidateOf(accountId: string, referenceId: string): Promise<string | undefined> {
    const entry = await this.#entries.findOne({ _id: referenceId, account: accountId });
    if (entry !== null) this.#known.set(`${accountId} ${referenceId}`, entry.candidate);
    return entry?.candidate;
  }
}
