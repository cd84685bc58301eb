import { ASKED_OF_CANDIDATE } from "../../candidates/outreach.ts";
import type { CandidateKey, CandidateRecord, DocumentRecord, ReferenceRecord } from "../../candidates/record.ts";
import type { Stored } from "../../candidates/stored.ts";
import { BoundedCollection } from "../../infra/bounded-collection.ts";
import type { Mongo } from "../../infra/mongo.ts";
import { words } from "../../schema/words.ts";

const MEMBERS = ["name", "first_name", "last_name", "email", "job_title", "state", "withdrawn", "started_at"] as const;

/** Members that clients fill and no page shows. */
const HIDDEN = words("documents.metadata documents.chase references.metadata references.response references.chase");

/** What a page behind a link shows of a candidate. */
export type CandidateView = Pick<CandidateRecord, (typeof MEMBERS)[number]> & {
  /** The documents that the candidate is asked for, and those that have arrived and are not reviewed. */
  readonly documents: readonly Omit<DocumentRecord, "metadata" | "chase">[];
  /** The reference that the page is about, if it is a referee's. */
  readonly references: readonly Pick<ReferenceRecord, "id" | "email" | "state" | "updated_at">[];
};

export function pageViews(mongo: Mongo) {
  const candidates = new BoundedCollection<Stored>(mongo, "candidates");

  /**
   * Returns undefined if the candidate was erased. Reads little, however large the record is. @throws problem store_unavailable
   * @param reference the id of the reference that the page is about, or TO_CANDIDATE.
   */
  return async ({ accountId, id }: CandidateKey, reference: string): Promise<CandidateView | undefined> => {
    const shown = {
      ...Object.fromEntries(MEMBERS.map((member) => [member, 1])),
      documents: membersOf("documents", "state", [...ASKED_OF_CANDIDATE, "received"]),
      references: membersOf("references", "id", [reference]),
    };
    const [found] = await candidates.aggregate<CandidateView>([
      { $match: { _id: id, account: accountId, deleted: { $exists: false } } },
      { $project: shown },
      { $unset: HIDDEN },
    ]);
    return found;
  };
}

/** Builds a $filter: the items of a list whose member has one of the values. */
function membersOf(list: string, member: string, values: readonly string[]) {
  return { $filter: { input: `$${list}`, as: "each", cond: { $in: [`$$each.${member}`, values] } } };
}
