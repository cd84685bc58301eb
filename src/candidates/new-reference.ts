import { NEVER_CHASED, type ReferenceRecord } from "./record.ts";
import type { NewReference } from "./reference-schema.ts";

/** The record of a reference just given, not asked for yet. */
export function newReferenceRecord(given: NewReference, id: string, now: string): ReferenceRecord {
  return {
    id,
    name: given.name ?? null,
    email: given.email ?? null,
    phone: given.phone ?? null,
    company: given.company ?? null,
    job_title: given.job_title ?? null,
    relationship: given.relationship ?? null,
    state: "not_requested",
    response: null,
    metadata: given.metadata ?? {},
    chase: NEVER_CHASED,
    requested_at: null,
    received_at: null,
    created_at: now,
    updated_at: now,
  };
}
