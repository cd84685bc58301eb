import Type, { type Static } from "typebox";
import { Candidate } from "../candidates/schema.ts";
import { about, component, oneOf, strict, Timestamp } from "../schema/fields.ts";

export const FORMATS = ["json", "pdf", "zip"] as const;
export type Format = (typeof FORMATS)[number];

export const PackQuery = strict({
  format: Type.Optional(about(oneOf(FORMATS), "The format. It takes precedence over Accept.", "pdf")),
});

const shown = Candidate.properties;

const PackAccount = component("PackAccount", "The account that the candidate belongs to.", {
  id: about(Type.String(), "The id of the account.", "acct_01k9z3v4k7d5p8s1v3x6z9a2c4"),
  name: about(Type.String(), "The name of the account.", "Acme"),
});

const PackCandidate = component("PackCandidate", "The person.", {
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
});

/** The compliance pack: everything known about a candidate's documents and references, and what is missing. */
export const Pack = component(
  "Pack",
  "The compliance pack: everything known about a candidate's documents and references, and what is missing.",
  {
    object: about(oneOf(["pack"]), "The type of the object.", "pack"),
    candidate_id: shown.id,
    pack_version: shown.pack_version,
    generated_at: about(Timestamp, "When the pack was made.", "2026-08-20T08:00:00.000Z"),
    account: about(PackAccount, "The account that the candidate belongs to."),
    candidate: about(PackCandidate, "The person."),
    complete: about(Type.Boolean(), "True if nothing is missing.", false),
    missing: shown.waiting_on,
    documents: shown.documents,
    references: shown.references,
    references_required: shown.references_required,
    reference_requirements: shown.reference_requirements,
  },
);
export type Pack = Static<typeof Pack>;
