import type { Caller } from "../accounts/caller.ts";
import { type AuditDetails, type AuditEvent, DONE } from "../audit/entry.ts";
import type { AuditStore } from "../audit/store.ts";
import type { ContentStore } from "../content/store.ts";
import type { Idempotency } from "../idempotency/idempotency.ts";
import type { Precondition } from "../problems.ts";
import { documentOf } from "./documents.ts";
import { candidateDeleted, type Found, isTombstone, namesFile, onHold } from "./erasure.ts";
import { entriesIn, linesIn } from "./history.ts";
import { withoutPart } from "./parts.ts";
import type { Author, CandidateKey, CandidateRecord, Deletion } from "./record.ts";
import { referenceOf } from "./references.ts";
import { renderDocument, renderReference, taggedCandidate } from "./render.ts";
import type { CandidateStore, Edit } from "./store.ts";

interface Dependencies {
  readonly store: CandidateStore;
  readonly content: ContentStore;
  readonly idempotency: Pick<Idempotency, "forget" | "end">;
  readonly audit: Pick<AuditStore, "append">;
  /** Removes what is stored of the messages about a candidate. */
  readonly messages: { removeAll(candidate: CandidateKey): Promise<void> };
}

export interface ErasureOptions {
  /** True to erase also what is under a hold. */
  readonly despiteHolds?: boolean | undefined;
  /** Is called with the record that is erased, undefined if that cannot be read. If it throws, nothing is erased. */
  readonly check?: (record: CandidateRecord | undefined) => void;
}

export type Eraser = ReturnType<typeof eraserOf>;

/**
 * Erases people (interface.md, Erasure). One write replaces the candidate's record by a tombstone, which lists what lies
 * outside the record. Then that is removed. Each step can be repeated, so a sweep finishes what a crash has interrupted.
 */
export function eraserOf({ store, content, idempotency, audit, messages }: Dependencies) {
  /** Erases a candidate. False if it is erased already. @throws problems not_found, on_hold; what `precondition` and the check throw. */
  async function erase(caller: Caller, id: string, precondition: Precondition, options: ErasureOptions = {}) {
    let lifted: string | undefined;
    const erased = await store.erase(caller.accountId, id, caller.keyId, (found) => {
      const [record, isHeld] = isTombstone(found) ? [undefined, found.left?.isHeld] : [found, found.hold !== null];
      precondition(() => (record === undefined ? [] : [taggedCandidate(record)]));
      if (isHeld === true && options.despiteHolds !== true) throw onHold(id);
      options.check?.(record);
      lifted = record && liftedAt(record);
    });
    await removeRest(erased, undefined, lifted === undefined ? {} : { hold_lifted_at: lifted });
    return erased.erasure !== null;
  }

  /** Leaves a tombstone of a candidate that is not here, and its entry in the audit. @throws problem not_found */
  async function bury({ accountId, keyId }: Caller, id: string): Promise<void> {
    await removeRest(await store.bury(accountId, id, keyId));
  }

  async function removeReference(caller: Deleting, id: string, precondition: Precondition, options?: ErasureOptions) {
    const candidate = await store.references.candidateOf(caller.accountId, id);
    await removePart(caller, { candidate, kind: "references", id }, precondition, options);
  }

  /** Deletes a document with its bytes, or a reference. @throws problems not_found, candidate_deleted, on_hold; what `precondition` throws. */
  async function removePart(
    { keyId: key, ...author }: Deleting,
    { candidate, kind, id }: Part,
    precondition: Precondition,
    { despiteHolds = false }: ErasureOptions = {},
  ): Promise<void> {
    const viewIn = (record: CandidateRecord) =>
      kind === "documents"
        ? renderDocument(record, documentOf(record, id))
        : renderReference(record, referenceOf(record, id));
    const edit: Edit = (record, at) => {
      const view = viewIn(record);
      precondition(() => [view, taggedCandidate(record)]);
      if (record.hold !== null && !despiteHolds) throw onHold(candidate);
      return withoutPart(record, kind, id, { key, at });
    };
    await removeRest(await store.change(author, candidate, edit));
  }

  /**
   * Finishes an erasure that was interrupted. Returns false if there was nothing to do.
   * @param signal ends the work early: the next call goes on with it.
   */
  async function finish(accountId: string, id: string, signal: AbortSignal): Promise<boolean> {
    const found = await store.reader.find(accountId, id);
    if (found === null || found.erasure === null) return false;
    await removeRest(found, signal);
    return true;
  }

  /** Removes what lies outside the record. Stored responses first, because a client can still get them. */
  async function removeRest(erased: Found, signal?: AbortSignal, more: AuditDetails = {}): Promise<void> {
    const { accountId, id, erasure } = erased;
    if (erasure === null) return;
    if (isTombstone(erased)) {
      await idempotency.end(accountId, id, candidateDeleted(id));
      await messages.removeAll({ accountId, id });
      await store.history.remove({ accountId, id });
    } else await idempotency.forget(accountId, id);
    for (const file of erasure.files) {
      if (signal?.aborted) return;
      await content.remove(file);
    }
    await removeUnsettled(accountId, id);
    await store.references.remove(accountId, erasure.references);
    await audit.append(erasure.deletions.map((deletion) => auditOf(erased, deletion, more)));
    await store.reader.erasureFinished({ accountId, id }, erasure);
  }

  /**
   * Removes what no record may name any more: of a deleted candidate everything, else content that was replaced. That
   * usually stays for its readers for an hour, but not after a deletion.
   */
  async function removeUnsettled(accountId: string, candidateId: string): Promise<void> {
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

  return { erase, bury, removePart, removeReference, finish };
}

/** Who deletes a part: `keyId` for the audit, `by` for the candidate's history. */
type Deleting = Caller & Author;
type Part = { readonly candidate: string; readonly kind: "documents" | "references"; readonly id: string };

/** Returns when the last hold was lifted: the history that says so goes with the candidate. */
function liftedAt({ history }: CandidateRecord): string | undefined {
  return entriesIn(linesIn(history.lines)).findLast(({ action }) => action === "hold_lifted")?.at;
}

/** The entry of the audit. Its id is derived from what was deleted, so a repeated erasure writes it once. */
function auditOf(candidate: Found, { kind, id, key: actor, at: deleted_at }: Deletion, more: AuditDetails): AuditEvent {
  const details = kind === "candidates" ? { deleted_at, ...more } : { candidate: candidate.id, deleted_at };
  const of = { account: candidate.accountId, action: `${kind} delete`, subject: id, details };
  return { _id: `audit_${id}`, actor, ...of, ...DONE };
}
