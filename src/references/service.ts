import {
  newReference,
  referenceNotFound,
  patchedReference,
  referenceOf,
  withReference,
} from "../candidates/references.ts";
import { renderReference, taggedCandidate } from "../candidates/render.ts";
import type { CandidateRecord } from "../candidates/record.ts";
import type { CandidateStore, Edit } from "../candidates/store.ts";
import { checkNotRemoved } from "../candidates/erasure.ts";
import type { Reference, ReferenceInput, ReferencePatch } from "../candidates/reference-schema.ts";
import { type Precondition, Problem } from "../problems.ts";

/** The operations on references. Every method may throw problems not_found and store_unavailable. */
export class ReferenceService {
  readonly #store: CandidateStore;

  constructor(store: CandidateStore) {
    this.#store = store;
  }

  /**
   * Adds a reference.
   * @throws problems version_mismatch, invalid_transition, too_many_references, validation_failed.
   */
  async add(
    accountId: string,
    candidateId: string,
    given: ReferenceInput,
    id: string,
    precondition: Precondition,
  ): Promise<Reference> {
    const record = await this.#store.change(accountId, candidateId, (before, now) => {
      // An interrupted attempt already added it, so the retry succeeds whatever its If-Match says (RFC 9110, 13.1.1).
      if (before.references.some((reference) => reference.id === id)) return before;
      checkNotRemoved(before, id);
      precondition([taggedCandidate(before)]);
      return withReference(before, newReference(given, { id, now, started: before.started_at !== null }));
    });
    return renderReference(candidateId, referenceOf(record, id));
  }

  async read(accountId: string, id: string): Promise<Reference> {
    const candidateId = await this.#candidateOf(accountId, id);
    return renderReference(candidateId, referenceOf(await this.#store.get(accountId, candidateId), id));
  }

  /**
   * Changes a reference's fields, its state or both.
   * @throws problems version_mismatch, invalid_transition, validation_failed.
   */
  async update(accountId: string, id: string, patch: ReferencePatch, precondition: Precondition): Promise<Reference> {
    const record = await this.#change(accountId, id, (before, now) => {
      const reference = referenceOf(before, id);
      precondition([renderReference(before.id, reference), taggedCandidate(before)]);
      const edited = patchedReference(reference, patch, { started: before.started_at !== null, now });
      if (edited === reference) return before;
      return { ...before, references: before.references.map((other) => (other === reference ? edited : other)) };
    });
    return renderReference(record.id, referenceOf(record, id));
  }

  async #change(accountId: string, id: string, edit: Edit): Promise<CandidateRecord> {
    const candidateId = await this.#store.references.recentCandidateOf(accountId, id);
    if (candidateId === undefined) throw referenceNotFound(id);
    try {
      return await this.#store.change(accountId, candidateId, edit);
    } catch (error) {
      // The candidate of a reference that was seen before may be deleted since.
      throw error instanceof Problem && error.code === "candidate_deleted" ? referenceNotFound(id) : error;
    }
  }

  async #candidateOf(accountId: string, id: string): Promise<string> {
    const candidateId = await this.#store.references.candidateOf(accountId, id);
    if (candidateId === undefined) throw referenceNotFound(id);
    return candidateId;
  }
}
