import { isDeepStrictEqual } from "node:util";
import type { Caller } from "../accounts/caller.ts";
import type { AuditStore } from "../audit/store.ts";
import { auditTrail } from "../audit/trail.ts";
import { KeyedQueue } from "../infra/compare-and-set.ts";
import type { NewId } from "../infra/ids.ts";
import { type Precondition, problem } from "../problems.ts";
import { mergePatch } from "../schema/merge-patch.ts";
import { daysOf, type RetentionStore, type RetentionValues } from "./retention-store.ts";
import type { RetentionPatch, RetentionSettings } from "./schema.ts";
import type { SettingsRecord } from "./store.ts";

export type RetentionService = ReturnType<typeof retentionService>;

const RACED = "These settings were changed at the same time. Retry in a second.";

/** When an account's candidates are erased without a request (interface.md, Retention). */
export function retentionService({ store, audit, newId }: { store: RetentionStore; audit: AuditStore; newId: NewId }) {
  const read = async (accountId: string) => render(await store.settings.get(accountId));
  const queue = new KeyedQueue();

  /**
   * Changes the settings, with an entry in the audit, unless nothing changes. @param caller `keyId`: who the audit says it was.
   * @throws problems version_mismatch; store_unavailable, also if another change is made at the same time.
   */
  const change = (caller: Caller, patch: RetentionPatch, precondition: Precondition) =>
    queue.run(caller.accountId, () => changeAlone(caller, patch, precondition));

  async function changeAlone({ accountId, keyId }: Caller, patch: RetentionPatch, precondition: Precondition) {
    const before = await store.settings.get(accountId);
    precondition(() => [render(before)]);
    const values = mergePatch(before.values, patch) as Partial<RetentionValues>;
    const [was, is] = [daysOf(before.values), daysOf(values)];
    if (isDeepStrictEqual(was, is)) return render(before);
    const details = { ...is, ...Object.fromEntries(Object.entries(was).map(([of, days]) => [`${of}_before`, days])) };
    const by = auditTrail({ store: audit, newId, actor: () => keyId });
    return by.around({ action: "retention set", accountId, subject: accountId, details }, async () => {
      const after = await store.settings.change(accountId, (current) => {
        precondition(() => [render(current)]);
        if (current.version !== before.version)
          throw problem("store_unavailable", RACED, { headers: { "Retry-After": "1" } });
        return values;
      });
      await store.fresh(accountId);
      return render(after);
    });
  }

  return { read, change };
}

function render({ values, version, updated_at }: SettingsRecord<RetentionValues>): RetentionSettings {
  return { object: "retention_settings", erase_after_days: daysOf(values), version, updated_at };
}
