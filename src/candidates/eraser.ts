import type { Caller, Requester } from "../accounts/caller.ts";
import type { AuditRecord, AuditStore } from "../audit/store.ts";
import type { ContentStore } from "../content/store.ts";
import type { Idempotency } from "../idempotency/idempotency.ts";
import { type Precondition, type Problem, problem } from "../problems.ts";
import { documentOf } from "./documents.ts";
import { candidateDeleted, isTombstone, type Tombstone } from "./erasure.ts";
import { withoutPart } from "./parts.ts";
import { type CandidateKey, type CandidateRecord, type Deleter, type Deletion, namesFile } from "./record.ts";
import { referenceOf } from "./references.ts";
import { renderDocument, renderReference, taggedCandidate } from "./render.ts";
import type { CandidateStore, Edit } from "./store.ts";

interface EraserOptions {
  readonly store: CandidateStore;
  readonly content: ContentStore;
  readonly idempotency: Pick<Idempotency, "forget" | "end">;
  readonly audit: Pick<AuditStore, "done">;
  /** Removes what is stored of the messages about a candidate. */
  readonly messages: { removeAll(candidate: CandidateKey): Promise<void> };
}

export interface ErasureOptions {
  readonly despiteHolds?: boolean;
  readonly check?: (record: CandidateRecord | undefined) => void;
}

/**
 * Erases people (interface.md, Erasure). One write replaces the candidate's record by a tombstone, which lists what lies
 * outside the record. Then that is removed. Each step can be repeated, so a sweep finishes what a crash has interrupted.
 */
export class Eraser {
  readonly #dependencies: EraserOptions;

  constructor(dependencies: EraserOptions) {
    this.#dependencies = dependencies;
  }

  /**
   * Erases a candidate. Does nothing more if it is erased already.
   * @param options `despiteHolds`: also if it is under a hold. `check` is called with the record that is erased, undefined if that
   * cannot be read. If it throws, nothing is erased.
   * @throws problems not_found, on_hold, and what `precondition` and `check` throw.
   */
  async erase({ accountId, keyId }: Caller, id: string, precondition: Precondition, options: ErasureOptions = {}) {
    const erased = await this.#dependencies.store.erase(accountId, id, keyId, (record, isHeld) => {
      precondition(record === undefined ? [] : [taggedCandidate(record)]);
      if (isHeld && options.despiteHolds !== true) throw onHold(id);
      options.check?.(record);
    });
    await this.#removeRest(erased);
  }

  /** Deletes a document with its bytes. */
  removeDocument(caller: Requester, candidateId: string, id: string, precondition: Precondition): Promise<void> {
    return this.#removePart(caller, candidateId, (record, by) => {
      precondition([renderDocument(record, documentOf(record, id)), taggedCandidate(record)]);
      return withoutPart(record, "documents", id, by);
    });
  }

  async removeReference(caller: Requester, id: string, precondition: Precondition): Promise<void> {
    const candidateId = await this.#dependencies.store.references.candidateOf(caller.accountId, id);
    await this.#removePart(caller, candidateId, (record, by) => {
      precondition([renderReference(record, referenceOf(record, id)), taggedCandidate(record)]);
      return withoutPart(record, "references", id, by);
    });
  }

  async #removePart(
    { keyId: key, ...author }: Requester,
    candidateId: string,
    without: (record: CandidateRecord, by: Deleter) => CandidateRecord,
  ): Promise<void> {
    const { store } = this.#dependencies;
    const edit: Edit = (record, at) => {
      const after = without(record, { key, at });
      if (record.hold !== null) throw onHold(candidateId);
      return after;
    };
    await this.#removeRest(await store.change(author, candidateId, edit));
  }

  /**
   * Finishes an erasure that was interrupted. Returns false if there was nothing to do.
   * @param signal ends the work early: the next call goes on with it.
   */
  async finish(accountId: string, id: string, signal: AbortSignal): Promise<boolean> {
    const found = await this.#dependencies.store.reader.find(accountId, id);
    if (found === null || found.erasure === null) return false;
    await this.#removeRest(found, signal);
    return true;
  }

  /** Removes what lies outside the record. Stored responses first, because a client can still get them. */
  async #removeRest(erased: CandidateRecord | Tombstone, signal?: AbortSignal): Promise<void> {
    const { accountId, id, erasure } = erased;
    if (erasure === null) return;
    const { store, content, idempotency, audit, messages } = this.#dependencies;
    if (isTombstone(erased)) {
      await idempotency.end(accountId, id, candidateDeleted(id));
      await messages.removeAll({ accountId, id });
      await store.history.remove({ accountId, id });
    } else await idempotency.forget(accountId, id);
    for (const file of erasure.files) {
      if (signal?.aborted) return;
      await content.remove(file);
    }
    await this.#removeUnsettled(accountId, id);
    await store.references.remove(accountId, erasure.references);
    for (const deletion of erasure.deletions) await audit.done(auditOf(accountId, deletion));
    await store.reader.erasureFinished({ accountId, id }, erasure);
  }

  /**
   * Removes what no record may name any more: of a deleted candidate everything, else content that was replaced. That
   * usually stays for its readers for an hour, but not after a deletion.
   */
  async #removeUnsettled(accountId: string, candidateId: string): Promise<void> {
    const { store, content } = this.#dependencies;
    const entries = await content.unsettled({ accountId, candidateId });
    if (entries.length === 0) return;
    // Read after the entries: a file that was replaced before, and that this record does not name, is never named again.
    const current = await store.reader.find(accountId, candidateId);
    for (const entry of entries) {
      const isDeleted = current === null || isTombstone(current);
      if (isDeleted || (entry.stage !== "arriving" && !namesFile(current, entry._id)))
        await content.removeUnsettled(entry);
    }
  }
}

function onHold(id: string): Problem {
  const detail = `Candidate ${id} is under a hold. To delete it, or its documents and references, lift the hold first.`;
  return problem("on_hold", detail);
}

/** The entry of the audit trail. Its id is derived from what was deleted, so a repeated erasure writes it once. */
function auditOf(account: string, { kind, id, key, at }: Deletion): AuditRecord {
  return { _id: `audit_${id}`, at, actor: key, action: `${kind} delete`, account, subject: id, details: {} };
}
