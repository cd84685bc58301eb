import type { Caller } from "../accounts/caller.ts";
import type { AuditStore } from "../audit/store.ts";
import type { ContentStore } from "../content/store.ts";
import type { IdempotentWork } from "../idempotency/once.ts";
import type { Precondition } from "../precondition.ts";
import { renderCandidate } from "./render.ts";
import type { CandidateStore } from "./store.ts";
import { candidateDeleted, isTombstone, type Tombstone } from "./tombstone.ts";

interface Dependencies {
  readonly store: CandidateStore;
  readonly content: ContentStore;
  readonly idempotency: Pick<IdempotentWork, "forget">;
  readonly audit: Pick<AuditStore, "done">;
}

/**
 * Erases people (interface.md, Erasure). One write replaces the candidate's record by a tombstone, which lists what lies
 * outside the record. Then that is removed. Each step can be repeated, so a sweep finishes what a crash has interrupted.
 */
export class Eraser {
  readonly #dependencies: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Erases a candidate. Does nothing more if it is erased already.
   * @throws problems not_found, version_mismatch, store_unavailable. After the last, the sweep finishes the erasure if it
   * has begun.
   */
  async erase({ accountId, keyId }: Caller, id: string, precondition: Precondition): Promise<void> {
    const { store } = this.#dependencies;
    const check: Parameters<CandidateStore["erase"]>[3] = (record) => precondition([renderCandidate(record)]);
    await this.#removeRest(await store.erase(accountId, id, keyId, check));
  }

  /** Finishes an erasure that was interrupted. Returns whether there was anything to do. @throws as `erase` does. */
  async finish(accountId: string, id: string): Promise<boolean> {
    const found = await this.#dependencies.store.reader.find(accountId, id);
    if (found === null || !isTombstone(found) || found.erasure === null) return false;
    await this.#removeRest(found);
    return true;
  }

  async #removeRest({ accountId, id, erasure }: Tombstone): Promise<void> {
    if (erasure === null) return;
    const { store, content, idempotency, audit } = this.#dependencies;
    await idempotency.forget(accountId, id, candidateDeleted(id));
    for (const file of erasure.files) await content.remove(file);
    await content.removeUnsettled({ accountId, candidateId: id });
    await store.references.remove(accountId, erasure.references);
    await audit.done({
      _id: `audit_${id}`,
      at: erasure.at,
      actor: erasure.key,
      action: "candidates delete",
      account: accountId,
      subject: id,
      details: {},
    });
    await store.reader.erasureFinished({ accountId, id });
  }
}
