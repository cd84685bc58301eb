import type { CandidateRecord } from "../candidates/record.ts";
import { renderCandidate } from "../candidates/render.ts";
import type { Candidate } from "../candidates/schema.ts";
import type { Pack } from "./schema.ts";

/**
 * Renders the pack of a candidate as it is now. Apart from `generated_at`, the language and the account's names, it depends
 * only on the candidate's id and `pack_version`: a change to anything else that it shows increments the version
 * (candidates/version.ts, samePack).
 */
export function renderPack(
  record: CandidateRecord,
  made: Pick<Pack, "account" | "language" | "generated_at" | "history" | "history_complete">,
): Pack {
  const candidate = renderCandidate(record);
  const missing = missingOf(record);
  return {
    object: "pack",
    candidate_id: candidate.id,
    pack_version: candidate.pack_version,
    ...made,
    candidate: identityOf(candidate),
    complete: missing.length === 0,
    missing,
    documents: candidate.documents.map(withoutPlan),
    references: candidate.references.map(withoutPlan),
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
  if (state === "completed" || waiting_on.length > 0) return waiting_on;
  if (record.documents.length + record.references.length === 0)
    return [{ code: "nothing_asked_for", subject: id, message: "No document and no reference has been asked for" }];
  return [{ code: "not_completed", subject: id, message: "Nothing that counts has been settled yet" }];
}

/** The pack has what happened, and not what is planned: that changes without a new pack_version. */
function withoutPlan<Item extends Candidate["documents" | "references"][number]>(item: Item): Item {
  const { attempts, last_at } = item.chase;
  return { ...item, chase: { attempts, last_at } };
}
