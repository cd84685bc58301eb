import Type, { type Static } from "typebox";
import { Candidate } from "../candidates/schema.ts";
import { oneOf, strict, Timestamp, titled } from "../schema/fields.ts";

export const FORMS = ["json", "pdf", "zip"] as const;
/** The format of a pack. */
export type Form = (typeof FORMS)[number];

export const PackQuery = strict({
  format: Type.Optional(Type.Unsafe<Form>({ ...oneOf(FORMS), description: "takes precedence over Accept" })),
});

const shown = Candidate.properties;

/** The compliance pack: everything known about a candidate's documents and references, and what is missing. */
export const Pack = titled(
  "Pack",
  strict({
    object: oneOf(["pack"]),
    candidate_id: shown.id,
    pack_version: shown.pack_version,
    generated_at: Timestamp,
    account: strict({ id: Type.String(), name: Type.String() }),
    candidate: strict({
      external_id: shown.external_id,
      name: shown.name,
      first_name: shown.first_name,
      last_name: shown.last_name,
      email: shown.email,
      phone: shown.phone,
      job_title: shown.job_title,
      start_date: shown.start_date,
      state: shown.state,
      state_reason: shown.state_reason,
      withdrawn: shown.withdrawn,
      withdrawal_reason: shown.withdrawal_reason,
      created_at: shown.created_at,
      started_at: shown.started_at,
    }),
    complete: Type.Boolean({ description: "true if nothing is missing" }),
    missing: shown.waiting_on,
    documents: shown.documents,
    references: shown.references,
    references_required: shown.references_required,
    reference_requirements: shown.reference_requirements,
  }),
);
export type Pack = Static<typeof Pack>;
