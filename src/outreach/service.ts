import { withOutreach } from "../candidates/edits.ts";
import { renderCandidate, taggedCandidate } from "../candidates/render.ts";
import type { Candidate } from "../candidates/schema.ts";
import type { OutreachPatch } from "../candidates/input-schema.ts";
import type { CandidateStore } from "../candidates/store.ts";
import type { Precondition } from "../precondition.ts";

/** How often a candidate's documents and references are chased. */
export class OutreachService {
  readonly #store: CandidateStore;

  constructor(store: CandidateStore) {
    this.#store = store;
  }

  /** One round trip or two, as `CandidateStore.change`. @throws problems not_found, version_mismatch, store_unavailable. */
  async set(accountId: string, id: string, patch: OutreachPatch, precondition: Precondition): Promise<Candidate> {
    const record = await this.#store.change(accountId, id, (before) => {
      precondition([taggedCandidate(before)]);
      return withOutreach(before, patch);
    });
    return renderCandidate(record);
  }
}
