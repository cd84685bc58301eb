import { type Clock, timestamp } from "../infra/clock.ts";
import type { NewId } from "../infra/ids.ts";
import { Problem, wholeNumber } from "../problems.ts";
import type { AuditDetails, AuditOutcome, AuditStore } from "./store.ts";

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
  readonly clock: Clock;
  readonly newId: NewId;
  /** Returns the person who makes the changes. May throw, if there must be a name. */
  readonly actor: () => string;
}

export const MAX_LISTED = 1000;

/** Records who changed what, and when. The record is written before the change, so every change has one. */
export function auditTrail({ store, clock, newId, actor }: Dependencies) {
  const now = () => timestamp(clock.now());

  /** Records a change and makes it. @throws problem `store_unavailable` without making it if it cannot be recorded. */
  async function around<T>({ accountId, details = {}, ...audited }: AuditedChange, change: () => Promise<T>) {
    const id = newId("audit");
    await store.begin({ _id: id, at: now(), actor: actor(), account: accountId, ...audited, details });
    try {
      const result = await change();
      await end(id, "done", null);
      return result;
    } catch (error) {
      await end(id, "failed", error instanceof Problem ? error.message : "internal error");
      throw error;
    }
  }

  /** Returns the latest changes, newest first. @throws problem `validation_failed` if the limit is not 1 to 1,000. */
  async function list(limit: number, accountId?: string): Promise<{ object: "list"; data: AuditView[] }> {
    const entries = await store.newest(wholeNumber("/limit", limit, 1, MAX_LISTED), accountId);
    return { object: "list", data: entries.map(view) };
  }

  /** Ignores a failed write: the change is already made or has failed. Without an outcome, the trail shows `unknown`. */
  async function end(id: string, outcome: AuditOutcome["outcome"], reason: string | null): Promise<void> {
    await store.end({ _id: id, at: now(), outcome, reason }).catch(() => undefined);
  }

  return { around, list };
}

/** Returns a change as operators see it. `unknown`: its command is running or was interrupted, before or after the change. */
function view({ record, outcome }: Awaited<ReturnType<AuditStore["newest"]>>[number]) {
  const { _id: id, account: account_id, ...rest } = record;
  const { outcome: ended = "unknown", reason = null, at: finished_at = null } = outcome ?? {};
  return { object: "audit_entry", id, account_id, ...rest, outcome: ended, reason, finished_at } as const;
}
