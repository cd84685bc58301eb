import Type, { type Static } from "typebox";
import { about, component, oneOf, strict, Timestamp, titled } from "../schema/fields.ts";
import { ExternalId } from "./input-schema.ts";
import { Candidate, ID, State } from "./schema.ts";

export const ListQuery = strict({
  limit: about(
    Type.Integer({ minimum: 1, default: 50 }),
    "Maximum rows of the page. Values above 200 count as 200. A page may have fewer rows: go by has_more.",
    100,
  ),
  cursor: Type.Optional(
    about(
      Type.String({ maxLength: 500 }),
      "The cursor of an earlier page: the rows after it. Without one, or if it is empty, the first.",
    ),
  ),
  state: Type.Optional(
    about(
      State,
      "Only candidates in this state. Such a list is a view, not a mirror: it does not show what has left the state.",
      "action_required",
    ),
  ),
  external_id: Type.Optional(about(ExternalId, "Only the candidate with this external_id.", "ats-4711")),
  updated_since: Type.Optional(
    about(
      Timestamp,
      "Only candidates that changed at this time or later, and those of the few seconds before it: rows may be repeated, so merge by id.",
      "2026-08-17T09:30:00.000Z",
    ),
  ),
});
export type ListQuery = Static<typeof ListQuery>;

export const DeletedCandidate = component("DeletedCandidate", "What remains of a candidate that was deleted.", {
  object: about(oneOf(["candidate"]), "The type of the object.", "candidate"),
  id: about(Type.String(), ...ID),
  deleted: about(Type.Boolean(), "Always true: the candidate is erased. Remove it from your mirror.", true),
  version: about(Type.Integer({ minimum: 1 }), "Counts the changes of the candidate, from 1.", 8),
  updated_at: about(Timestamp, "When the candidate was deleted.", "2026-08-20T08:00:00.000Z"),
});
export type DeletedCandidate = Static<typeof DeletedCandidate>;

const CandidateRow = titled(
  "CandidateRow",
  "A row of the list. A row with the member deleted is a candidate that was deleted.",
  Type.Unsafe<Candidate | DeletedCandidate>({ oneOf: [Candidate, DeletedCandidate] }),
);

export const CandidateList = component("CandidateList", "A page of the list of candidates, oldest change first.", {
  object: about(oneOf(["list"]), "The type of the object.", "list"),
  data: about(Type.Array(CandidateRow), "The rows. A row may be repeated on a later page; none is ever skipped."),
  has_more: about(
    Type.Boolean(),
    "True: read the next page now, with the cursor. False: come back later with the cursor and get only what changed.",
    false,
  ),
  cursor: about(
    Type.String(),
    "Where to continue. Always there. Store it after the rows of the page.",
    "MTc4Njk1OTAwMDAwMDAw",
  ),
});
export type CandidateList = Static<typeof CandidateList>;
