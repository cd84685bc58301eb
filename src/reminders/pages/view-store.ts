import type { Document } from "mongodb";
import { ASKED_OF_CANDIDATE } from "../../candidates/outreach.ts";
import type { CandidateKey, CandidateRecord, DocumentRecord, ReferenceRecord } from "../../candidates/record.ts";
import type { Stored } from "../../candidates/stored.ts";
import { BoundedCollection } from "../../infra/bounded-collection.ts";
import type { Mongo } from "../../infra/mongo.ts";

/** Maximum documents of each kind on a page. Nobody is charged for a page, so its cost is bounded. */
const MAX_SHOWN = 25;

const MEMBERS = ["name", "first_name", "last_name", "email", "job_title", "state", "withdrawn", "started_at"] as const;

/** A document that has arrived. It has no content if the client says so. */
export type Sent = Pick<DocumentRecord, "id" | "name" | "state" | "content" | "created_at">;

/** What a page behind a link shows of a candidate. */
export type CandidateView = Pick<CandidateRecord, (typeof MEMBERS)[number]> & {
  /** The first of the documents that the candidate is asked for, required ones first, and how many there are. */
  readonly asked: readonly Pick<
    DocumentRecord,
    "id" | "name" | "state" | "required" | "rejection_reason" | "created_at"
  >[];
  readonly asked_count: number;
  /** The first of the documents that have arrived and are not reviewed, and how many there are. */
  readonly received: readonly Sent[];
  readonly received_count: number;
  /** The document that the visitor has just sent, if there is one. */
  readonly arrived: readonly Sent[];
  /** The reference that the page is about, if it is a referee's. */
  readonly references: readonly Pick<ReferenceRecord, "id" | "email" | "state" | "updated_at">[];
};

/** The aggregation lists required and optional documents separately: the stand-in for MongoDB has no $concatArrays. */
type Found = Omit<CandidateView, "asked"> & Record<"required" | "optional", CandidateView["asked"]>;

/** Members that clients fill and no page shows. */
const HIDDEN = ["required", "optional", "received", "arrived", "references"].flatMap((list) =>
  ["metadata", "response", "chase"].map((member) => `${list}.${member}`),
);

export class PageViewStore {
  readonly #candidates: BoundedCollection<Stored>;

  constructor(mongo: Mongo) {
    this.#candidates = new BoundedCollection(mongo, "candidates");
  }

  /**
   * Returns undefined if the candidate was erased. Reads little, however large the record is.
   * @param reference the id of the reference that the page is about, or TO_CANDIDATE.
   * @param arrived the id of the document that the visitor has just sent; empty if there is none.
   * @throws problem store_unavailable
   */
  async find({ accountId, id }: CandidateKey, reference: string, arrived: string): Promise<CandidateView | undefined> {
    const asked = membersOf("$documents", "state", ASKED_OF_CANDIDATE);
    const received = membersOf("$documents", "state", ["received"]);
    const shown = {
      ...Object.fromEntries(MEMBERS.map((member) => [member, 1])),
      required: { $slice: [membersOf(asked, "required", [true]), MAX_SHOWN] },
      optional: { $slice: [membersOf(asked, "required", [false]), MAX_SHOWN] },
      asked_count: { $size: asked },
      received: { $slice: [received, MAX_SHOWN] },
      received_count: { $size: received },
      arrived: membersOf("$documents", "id", [arrived]),
      references: membersOf("$references", "id", [reference]),
    };
    const [found] = await this.#candidates.aggregate<Found>([
      { $match: { _id: id, account: accountId, deleted: { $exists: false } } },
      { $project: shown },
      { $unset: HIDDEN },
    ]);
    if (found === undefined) return undefined;
    const { required, optional, ...view } = found;
    return { ...view, asked: [...required, ...optional].slice(0, MAX_SHOWN) };
  }
}

/** Builds a $filter: the items of a list whose member has one of the values. */
function membersOf(list: string | Document, member: string, values: readonly (string | boolean)[]): Document {
  return { $filter: { input: list, as: "each", cond: { $in: [`$$each.${member}`, [...values]] } } };
}
