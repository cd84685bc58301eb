import type { CandidateRecord, ReferenceRecord } from "../candidates/record.ts";
import { renderCandidate } from "../candidates/render.ts";
import type { Candidate } from "../candidates/schema.ts";
import type { Pack } from "./schema.ts";

/**
 * Renders the pack of a candidate as it is now. Apart from `generated_at`, the account's name and the
 * language, it depends only on the candidate's id and `pack_version`: a change to anything that it shows increments the
 * version (candidates/version.ts, samePack).
 */
export function renderPack(
  record: CandidateRecord,
  { account, language, generated_at }: Pick<Pack, "account" | "language" | "generated_at">,
): Pack {
  const candidate = renderCandidate(record);
  const missing = missingOf(record);
  return {
    object: "pack",
    candidate_id: candidate.id,
    pack_version: candidate.pack_version,
    generated_at,
    language,
    account,
    candidate: identityOf(candidate),
    complete: missing.length === 0,
    missing,
    documents: candidate.documents,
    references: candidate.references,
    references_required: candidate.references_required,
    reference_requirements: candidate.reference_requirements,
  };
}

function identityOf(candidate: Candidate): Pack["candidate"] {
  const { external_id, name, first_name, last_name, email, phone, job_title, start_date, metadata } = candidate;
  const { state, state_reason, withdrawn, withdrawal_reason, created_at, started_at } = candidate;
  const person = { external_id, name, first_name, last_name, email, phone, job_title, start_date, metadata };
  return { ...person, state, state_reason, withdrawn, withdrawal_reason, created_at, started_at };
}

/** Lists what is missing. Ignores a withdrawal: it ends the waiting, but does not complete the pack. */
function missingOf(record: CandidateRecord): Pack["missing"] {
  const { id, state, waiting_on } = renderCandidate({ ...record, withdrawn: false });
  if (state === "completed" || waiting_on.length > 0) return withReferees(waiting_on, record.references);
  if (record.documents.length + record.references.length === 0) {
    return [{ code: "nothing_asked_for", subject: id, message: "No document and no reference has been asked for" }];
  }
  return [{ code: "not_completed", subject: id, message: "Nothing that counts has been settled yet" }];
}

/**
 * Names the referee in place of the reference's id. The candidate's own waiting_on keeps the id: its texts are part of a
 * candidate's ETag, and replicas of two versions must agree on that.
 */
function withReferees(missing: Pack["missing"], references: readonly ReferenceRecord[]): Pack["missing"] {
  const referees = new Map(references.map(({ id, name, email }) => [id, name?.trim() || email]));
  return missing.map((wait) => {
    const referee = referees.get(wait.subject);
    const message = (name: string) => wait.message.replace(`Reference ${wait.subject}`, () => `Reference "${name}"`);
    return referee ? { ...wait, message: message(referee) } : wait;
  });
}
