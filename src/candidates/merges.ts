import type { StoredFile } from "../content/file.ts";
import type { NewId } from "../infra/ids.ts";
import { newDocument } from "./documents.ts";
import { documentsOf, patched, withOutreach } from "./edits.ts";
import type { BulkPatch } from "./bulk-schema.ts";
import type { DocumentInput } from "./document-schema.ts";
import type { CandidateInput } from "./input-schema.ts";
import { situationOf } from "./moves.ts";
import { comparable } from "./outreach.ts";
import { checkNotRemoved, withPart } from "./parts.ts";
import type { CandidateRecord } from "./record.ts";
import { newReference } from "./references.ts";
import { resolvedLabels } from "./unreadable.ts";

/** Pure edits of a candidate that a client sends again as a whole, or changes with others. */

export type PartIds = ReturnType<typeof partIds>;

/** Returns an id for each part of a candidate that is sent, whether or not it is added. */
export function partIds({ documents, references }: CandidateInput, newId: NewId) {
  return {
    documents: (documents ?? []).map(() => newId("doc")),
    references: (references ?? []).map(() => newId("ref")),
  };
}

/**
 * Changes a candidate to what is sent of it (interface.md, On conflict): its fields as PATCH would, its outreach as PATCH
 * …/outreach would. Adds documents with new names, and references with new addresses, or new names if they have none.
 * Returns the same record if there is nothing to change.
 * @param files the stored content of new documents, by their index in the body.
 * @throws problems validation_failed, invalid_transition, too_many_documents, too_many_references
 */
export function merged(
  before: CandidateRecord,
  given: CandidateInput,
  { ids, now, files }: { ids: PartIds; now: string; files?: ReadonlyMap<number, StoredFile> },
): CandidateRecord {
  const { documents: _documents, references, withdrawn, metadata, ...fields } = given;
  const labels = metadata === null ? null : { ...resolvedLabels(given), ...metadata };
  const patch = { ...fields, ...(typeof withdrawn === "boolean" && { withdrawn }), metadata: labels };
  let after = withBulkPatch(before, patch, now);
  const situation = situationOf(before, now);
  for (const [n, document] of newDocumentsIn(before, given)) {
    const id = ids.documents[n]!;
    checkNotRemoved(before, id);
    const facts = { id, content: files?.get(n), ...situation, at: `/documents/${n}` };
    after = withPart(after, "documents", newDocument(document, facts));
  }
  for (const [n, reference] of (references ?? []).entries()) {
    if (before.references.some((known) => isSameReferee(known, reference))) continue;
    const id = ids.references[n]!;
    checkNotRemoved(before, id);
    after = withPart(after, "references", newReference(reference, { id, ...situation, at: `/references/${n}` }));
  }
  return after;
}

/** Returns the documents of a body whose name the candidate does not have, each after its index. */
export function newDocumentsIn(before: CandidateRecord, given: CandidateInput): [number, DocumentInput][] {
  const names = new Set(before.documents.map(({ name }) => name));
  return [...documentsOf(given).entries()].filter(([, { name }]) => !names.has(name));
}

type Referee = { readonly email?: string | null; readonly name?: string | null };

/** Compares addresses, or names if the one that is sent has no address. Two that have neither count as the same. */
function isSameReferee(known: Referee, { email, name }: Referee): boolean {
  if (email) return known.email ? comparable(known.email) === comparable(email) : false;
  return name ? known.name === name : !known.name && !known.email;
}

/** Changes a candidate as PATCH /candidates/{id} and PATCH …/outreach would. */
export function withBulkPatch(before: CandidateRecord, patch: BulkPatch, now: string): CandidateRecord {
  const { id: _i, outreach_enabled: _e, docs_chase_attempts: _d, reference_chase_attempts: _r, ...fields } = patch;
  return withOutreach(patched(before, fields), patch, now);
}
