import { BoundedCollection } from "../infra/bounded-collection.ts";
import type { Mongo } from "../infra/mongo.ts";
import type { CandidateKey } from "./reader.ts";
import type { CandidateRecord, DocumentRecord, ReferenceRecord } from "./record.ts";
import type { CandidateState } from "./schema.ts";
import type { Stored } from "./stored.ts";

/** What the pages behind links show of a candidate. */
export type Glance = Pick<
  CandidateRecord,
  "name" | "first_name" | "last_name" | "email" | "job_title" | "state" | "withdrawn" | "started_at"
> & {
  readonly documents: readonly Pick<DocumentRecord, "id" | "name" | "state" | "required" | "rejection_reason">[];
  readonly references: readonly Pick<ReferenceRecord, "id" | "email" | "state">[];
};

const AT_A_GLANCE = Object.fromEntries(
  ["deleted", "name", "first_name", "last_name", "email", "job_title", "state", "withdrawn", "started_at"].map(
    (member) => [member, 1] as const,
  ),
);

/** Reads candidates for the pages behind links. */
export class GlanceStore {
  readonly #candidates: BoundedCollection<Stored>;

  constructor(mongo: Mongo) {
    this.#candidates = new BoundedCollection(mongo, "candidates");
  }

  /**
   * Returns what pages show of a candidate: with its documents, or with its references. Reads nothing else, because a page
   * costs its visitor nothing. Null if it does not exist, or was erased. One round trip.
   * @throws problem store_unavailable
   */
  async find({ accountId, id }: CandidateKey, at: "documents" | "references"): Promise<Glance | null> {
    const projection = { ...AT_A_GLANCE, [at]: 1 };
    const found = await this.#candidates.findOne({ _id: id, account: accountId }, { projection });
    if (found === null || found.deleted === true) return null;
    const nothing = { documents: [], references: [] };
    return { ...nothing, ...found, state: found.state as CandidateState };
  }
}
