import { createHash } from "node:crypto";
import { type IncomingContent, type StoredContent, UNKNOWN_TYPE } from "../content/store.ts";
import type { NewId } from "../infra/ids.ts";
import { newReferenceRecord } from "./new-reference.ts";
import type { DocumentRecord } from "./record.ts";
import { DEFAULT_CHASE_ATTEMPTS, type NewCandidate } from "./schema.ts";
import type { Draft } from "./store.ts";

interface DraftFacts {
  readonly id: string;
  readonly account: string;
  readonly documents: readonly DocumentRecord[];
  readonly newId: NewId;
  readonly now: string;
}

/** A candidate just given, with its references; its documents are records already. */
export function draftOf(given: NewCandidate, { id, account, documents, newId, now }: DraftFacts): Draft {
  return {
    id,
    account,
    pack_version: 1,
    external_id: given.external_id ?? null,
    name: given.name ?? null,
    first_name: given.first_name ?? null,
    last_name: given.last_name ?? null,
    email: given.email ?? null,
    phone: given.phone ?? null,
    job_title: given.job_title ?? null,
    start_date: given.start_date ?? null,
    metadata: given.metadata ?? {},
    docs_chase_attempts: given.docs_chase_attempts ?? DEFAULT_CHASE_ATTEMPTS,
    reference_chase_attempts: given.reference_chase_attempts ?? DEFAULT_CHASE_ATTEMPTS,
    references_required: given.references_required ?? null,
    withdrawn: false,
    withdrawal_reason: null,
    documents,
    references: (given.references ?? []).map((reference) => newReferenceRecord(reference, newId("ref"), now)),
    started_at: null,
  };
}

/** Content as it would be stored: read to its end and kept nowhere, so it has no id. */
export async function rehearsedContent({ stream, filename, contentType }: IncomingContent): Promise<StoredContent> {
  const hash = createHash("sha256");
  let size = 0;
  for await (const chunk of stream) {
    hash.update(chunk);
    size += chunk.length;
  }
  return { id: "", filename, contentType: contentType ?? UNKNOWN_TYPE, size, sha256: hash.digest("hex") };
}
