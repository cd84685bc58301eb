import Type, { type Static } from "typebox";
import { Candidate } from "../candidates/schema.ts";
import { HistoryEntry } from "../candidates/history-schema.ts";
import { MESSAGE_LANGUAGES } from "../schema/languages.ts";
import { about, component, omittable, oneOf, strict } from "../schema/fields.ts";
import { Timestamp } from "../schema/values.ts";

export const FORMATS = ["json", "pdf", "zip"] as const;
export type Format = (typeof FORMATS)[number];

export const PackQuery = strict({
  format: omittable(oneOf(FORMATS), "The format. It takes precedence over Accept.", "pdf"),
});

const PackKey = component("PackKey", "An API key.", {
  id: about(Type.String(), "The id of the key.", "key_01k9z3v4q6f2r8t1w5y9b3d7h2"),
  name: about(Type.String(), "The name of the key.", "Production"),
});

const PackAccount = component("PackAccount", "The account that the candidate belongs to.", {
  id: about(Type.String(), "The id of the account.", "acct_01k9z3v4k7d5p8s1v3x6z9a2c4"),
  name: about(Type.String(), "The name of the account.", "Acme"),
  keys: about(Type.Array(PackKey), "The API keys that decided something, with their names."),
});

const { external_id, name, first_name, last_name, email, phone, job_title, start_date } = Candidate.properties;
const { state, state_reason, withdrawn, withdrawal_reason, created_at, started_at } = Candidate.properties;
const { id, pack_version, waiting_on, documents, references } = Candidate.properties;
const { references_required, reference_requirements, metadata } = Candidate.properties;

const person = { external_id, name, first_name, last_name, email, phone, job_title, start_date };
const progress = { state, state_reason, withdrawn, withdrawal_reason, created_at, started_at };
const PackCandidate = component("PackCandidate", "The person.", { ...person, metadata, ...progress });

export const Pack = component(
  "Pack",
  "The compliance pack: everything known about a candidate's documents and references, and what is missing.",
  {
    object: about(oneOf(["pack"]), "The type of the object.", "pack"),
    candidate_id: id,
    pack_version,
    generated_at: about(Timestamp, "When the pack was made.", "2026-08-20T08:00:00.000Z"),
    language: about(oneOf(MESSAGE_LANGUAGES), "The language of the PDF: message_language of the assistant.", "de"),
    account: about(PackAccount, "The account that the candidate belongs to."),
    candidate: about(PackCandidate, "The person."),
    complete: about(Type.Boolean(), "True if nothing is missing.", false),
    missing: waiting_on,
    documents,
    references,
    references_required,
    reference_requirements,
    history: about(
      Type.Array(HistoryEntry),
      "What changed of the candidate, and the messages: the latest 5,000 entries, the newest first. GET /candidates/{id}/history has all.",
    ),
    history_complete: about(Type.Boolean(), "False if there are earlier entries, which the pack leaves out.", true),
  },
);
export type Pack = Static<typeof Pack>;
