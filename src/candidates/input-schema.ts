import Type, { type Static } from "typebox";
import { component, omittable, oneOf, optional, readOnly, strict } from "../schema/fields.ts";
import { CalendarDate, Email, freeText, MetadataPatch, phone } from "../schema/values.ts";
import { DocumentOrName, Language } from "./document-schema.ts";
import { DEFAULT_CHASE_ATTEMPTS } from "./record.ts";
import { ReferenceInput } from "./reference-schema.ts";
import { ChaseAttempts, ExternalId, HoldInput, MAX_DOCUMENTS, MAX_REFERENCES, TEXT } from "./schema.ts";

/** Fields that a client can send both in a new candidate and in a PATCH. */
const candidateFields = {
  external_id: optional(ExternalId, ...TEXT.external_id),
  name: optional(freeText(200), ...TEXT.name),
  first_name: optional(freeText(200), ...TEXT.first_name),
  last_name: optional(freeText(200), ...TEXT.last_name),
  email: optional(Email, ...TEXT.email),
  phone: phone("The phone number"),
  language: optional(Language, ...TEXT.language),
  job_title: optional(freeText(200), ...TEXT.job_title),
  start_date: optional(CalendarDate, ...TEXT.start_date),
  metadata: optional(MetadataPatch, "The client's own labels. A label that is null is removed, or not set."),
  references_required: optional(Type.Integer({ minimum: 0, maximum: 50 }), ...TEXT.references_required),
};

export const outreachFields = {
  outreach_enabled: omittable(
    Type.Boolean(),
    `${TEXT.outreach_enabled[0]} False: none ever does. Default: true.`,
    false,
  ),
  docs_chase_attempts: optional(ChaseAttempts, ...withDefault(TEXT.docs_chase_attempts)),
  reference_chase_attempts: optional(ChaseAttempts, ...withDefault(TEXT.reference_chase_attempts)),
};

export const READ_ONLY = {
  ...readOnly("object", "id", "state_reason", "waiting_on", "version", "pack_version", "created_at", "updated_at"),
  state: "it is derived from documents and references",
  reference_requirements: "it is derived; set references_required instead",
  erases_at: "it follows from the retention settings",
  started_at: "start the candidate with POST /candidates/{id}/start",
};

export const CandidateInput = component(
  "CandidateInput",
  "A candidate to create. No field is required.",
  {
    ...candidateFields,
    ...outreachFields,
    withdrawn: optional(Type.Boolean(), `${TEXT.withdrawn[0]} Default: false.`, true),
    withdrawal_reason: optional(freeText(1000), ...TEXT.withdrawal_reason),
    documents: optional(
      Type.Array(DocumentOrName, { maxItems: MAX_DOCUMENTS }),
      "Documents to add, up to 200. A plain string is a document's name.",
      ["Passport", { name: "Work permit", required: false }],
    ),
    references: optional(Type.Array(ReferenceInput, { maxItems: MAX_REFERENCES }), "References to add, up to 50.", [
      { name: "Jordan Reyes", email: "jordan@example.com" },
    ]),
  },
  {
    ...READ_ONLY,
    id: "the service assigns it; send your own id as external_id",
    hold: "set it with PATCH /candidates/{id}",
  },
);
export type CandidateInput = Static<typeof CandidateInput>;

/** Where to change a candidate's parts. */
export const PARTS_ELSEWHERE = {
  documents: "add one with POST /candidates/{id}/documents, change one with PATCH /candidates/{id}/documents/{docId}",
  references: "add one with POST /candidates/{id}/references, change one with PATCH /references/{id}",
};

export const CandidatePatch = component(
  "CandidatePatch",
  "Changes of a candidate (JSON Merge Patch, RFC 7396): null clears a field, and a field that is left out stays as it is.",
  {
    ...candidateFields,
    metadata: optional(MetadataPatch, "Changes of the client's own labels. Null removes all."),
    withdrawn: omittable(Type.Boolean(), "True withdraws the candidate, false reinstates it.", true),
    withdrawal_reason: optional(freeText(1000), ...TEXT.withdrawal_reason),
    hold: optional(HoldInput, `${TEXT.hold[0]} Null lifts it.`, { reason: "Dispute of 2026-08" }),
  },
  {
    ...READ_ONLY,
    outreach_enabled: "change it with PATCH /candidates/{id}/outreach",
    docs_chase_attempts: "change it with PATCH /candidates/{id}/outreach",
    reference_chase_attempts: "change it with PATCH /candidates/{id}/outreach",
    ...PARTS_ELSEWHERE,
  },
);
export type CandidatePatch = Static<typeof CandidatePatch>;

export const OutreachPatch = component(
  "OutreachPatch",
  "Changes of whether, and how often, a candidate's documents and references are chased (JSON Merge Patch, RFC 7396).",
  outreachFields,
);
export type OutreachPatch = Static<typeof OutreachPatch>;

export const StartInput = component("StartInput", "An object without members. The body may be left out.", {});

export const RemindInput = component("RemindInput", "An object without members. The body may be left out.", {});

const OnConflict = oneOf(["update", "skip"]);
export type OnConflict = Static<typeof OnConflict>;

export const importQuery = {
  on_conflict: omittable(
    OnConflict,
    "What to do if the external_id is taken. update: change that candidate to what is sent; fields that are left out stay, and new documents and references are added. skip: leave it as it is. Without it, the request is refused.",
    "update",
  ),
  unreadable: omittable(
    oneOf(["metadata"]),
    "With metadata, an email, phone or start_date that is refused becomes null, and its text is kept in metadata as unreadable.FIELD.",
    "metadata",
  ),
};

export const CreateQuery = strict({
  dry_run: omittable(
    Type.Boolean(),
    "True returns what would be created and stores nothing. It counts against the limit of reads, not of create.",
    true,
  ),
  ...importQuery,
});

function withDefault([text, example]: readonly [string, number]): readonly [string, number] {
  return [`${text} Null restores the default, ${DEFAULT_CHASE_ATTEMPTS}.`, example];
}
