import type { NewId } from "../infra/ids.ts";
import { Problem, wholeNumber } from "../problems.ts";
import type { AuditDetails, AuditEvent } from "./entry.ts";
import { type AuditStore, endIdOf } from "./store.ts";

/** A change to record: the command (`keys revoke`), the id of the account, and the id of what is changed. */
export interface AuditedChange {
  readonly action: string;
  readonly accountId: string;
  readonly subject: string;
  readonly details?: AuditDetails;
}

export type AuditTrail = ReturnType<typeof auditTrail>;
export type AuditView = ReturnType<typeof view>;

interface Dependencies {
  readonly store: AuditStore;
  readonly newId: NewId;
  /** Returns the person who makes the changes. May throw, if there must be a name. */
  readonly actor: () => string;
}

export const MAX_LISTED = 1000;

/** Records who changed what, and when. The record is written before the change, so every change has one. */
export function auditTrail({ store, newId, actor }: Dependencies) {
  /** Records a change and makes it. @throws problem `store_unavailable` without making it if it cannot be recorded. */
  async function around<T>({ accountId, details = {}, ...audited }: AuditedChange, change: () => Promise<T>) {
    const ends = { of: null, outcome: null, reason: null };
    const begun = { _id: newId("audit"), actor: actor(), account: accountId, ...audited, details, ...ends };
    await store.append([begun]);
    try {
      const result = await change();
      await end(begun, "done", null);
      return result;
    } catch (error) {
      await end(begun, "failed", error instanceof Problem ? error.message : "internal error");
      throw error;
    }
  }

  /** Returns the latest changes, newest first. @throws problem `validation_failed` if the limit is not 1 to 1,000. */
  async function list(limit: number, accountId?: string): Promise<{ object: "list"; data: AuditView[] }> {
    const entries = await store.newest(wholeNumber("/limit", limit, 1, MAX_LISTED), accountId);
    return { object: "list", data: entries.map(view) };
  }

  /** Ignores a failed write: the change is already made or has failed. Without an outcome, the trail shows `unknown`. */
  async function end(begun: AuditEvent, outcome: "done" | "failed", reason: string | null): Promise<void> {
    const ended = { ...begun, _id: endIdOf(begun._id), of: begun._id, details: {}, outcome, reason };
    await store.append([ended]).catch(() => undefined);
  }

  return { around, list };
}

/** Returns a change as operators see it. `unknown`: its command is running or was interrupted, before or after the change. */
function view({ record, end }: Awaited<ReturnType<AuditStore["newest"]>>[number]) {
  const { _id: id, account: account_id, at, actor, action, subject, details } = record;
  const { outcome: ended, reason = null, at: finished_at = null } = end ?? {};
  const shown = { object: "audit_entry", id, account_id, at, actor, action, subject, details } as const;
  return { ...shown, outcome: ended ?? "unknown", reason, finished_at } as const;
}
