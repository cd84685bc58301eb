import { situationOf } from "../candidates/moves.ts";
import { checkNotRemoved, withChanged, withDecider, withPart } from "../candidates/parts.ts";
import { newReference, patchedReference, referenceOf } from "../candidates/references.ts";
import type { Author } from "../candidates/record.ts";
import { renderReference, taggedCandidate } from "../candidates/render.ts";
import type { CandidateStore } from "../candidates/store.ts";
import type { ReferenceInput, ReferencePatch } from "../candidates/reference-schema.ts";
import type { Precondition } from "../problems.ts";

export type ReferenceService = ReturnType<typeof referenceService>;

/** The operations on references. The endpoints list the problems of each. */
export function referenceService(store: CandidateStore) {
  return {
    async add(author: Author, candidateId: string, given: ReferenceInput, id: string, precondition: Precondition) {
      const record = await store.change(author, candidateId, (before, now) => {
        // An interrupted attempt already added it, so the retry succeeds whatever its If-Match says (RFC 9110, 13.1.1).
        if (before.references.some((reference) => reference.id === id)) return before;
        checkNotRemoved(before, id);
        precondition(() => [taggedCandidate(before)]);
        return withPart(before, "references", newReference(given, { id, ...situationOf(before, now) }));
      });
      return renderReference(record, referenceOf(record, id));
    },

    async read(accountId: string, id: string) {
      const candidateId = await store.references.candidateOf(accountId, id);
      const record = await store.reader.get(accountId, candidateId);
      return renderReference(record, referenceOf(record, id));
    },

    async update(author: Author, id: string, { decided_by, ...patch }: ReferencePatch, precondition: Precondition) {
      const candidateId = await store.references.candidateOf(author.accountId, id);
      const record = await store.change(author, candidateId, (before, now) => {
        const reference = referenceOf(before, id);
        precondition(() => [renderReference(before, reference), taggedCandidate(before)]);
        const after = patchedReference(reference, patch, situationOf(before, now));
        return withDecider(withChanged(before, "references", reference, after), reference, after, decided_by);
      });
      return renderReference(record, referenceOf(record, id));
    },
  };
}
