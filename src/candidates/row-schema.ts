import Type, { type Static } from "typebox";
import { about, component, oneOf, titled } from "../schema/fields.ts";
import { Timestamp } from "../schema/values.ts";
import { Candidate, ID } from "./schema.ts";

export const DeletedCandidate = component("DeletedCandidate", "What remains of a candidate that was deleted.", {
  object: about(oneOf(["candidate"]), "The type of the object.", "candidate"),
  id: about(Type.String(), ...ID),
  deleted: about(Type.Boolean(), "Always true: the candidate is erased. Remove it from your mirror.", true),
  version: about(Type.Integer({ minimum: 1 }), "Counts the changes of the candidate, from 1.", 8),
  updated_at: about(Timestamp, "When the candidate was deleted.", "2026-08-20T08:00:00.000Z"),
});
export type DeletedCandidate = Static<typeof DeletedCandidate>;

const DAMAGED =
  "A candidate whose record is damaged. Nothing else of it can be shown until the operator has repaired it.";
export const UnreadableCandidate = component("UnreadableCandidate", DAMAGED, {
  object: DeletedCandidate.properties.object,
  id: about(Type.String(), ...ID),
  unreadable: about(Type.Boolean(), "Always true: keep what your mirror has of the candidate.", true),
});
export type UnreadableCandidate = Static<typeof UnreadableCandidate>;

const CandidateRow = titled(
  "CandidateRow",
  "A row of the list. A row with the member deleted is a candidate that was deleted, one with the member unreadable a candidate whose record is damaged.",
  Type.Unsafe<Candidate | DeletedCandidate | UnreadableCandidate>({
    oneOf: [Candidate, DeletedCandidate, UnreadableCandidate],
  }),
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
    "Where to continue. Always there; empty in the response to q. Store it after the rows of the page.",
    "MTc4Njk1OTAwMDAwMDAw",
  ),
});
export type CandidateList = Static<typeof CandidateList>;
