import type { AuditEvent } from "../../src/audit/entry.ts";
import { newTypeId } from "../../src/infra/ids.ts";

/** Returns what the audit may be told about an account. */
export function eventOf(account: string, others: Partial<AuditEvent> = {}): AuditEvent {
  const what = { actor: "ann", action: "keys revoke", subject: "key_1", details: { reason: "leaked" } };
  return { _id: newTypeId("audit"), account, ...what, of: null, outcome: "done", reason: null, ...others };
}
