import type { GrantRecord } from "./store.ts";
import type { Grant } from "../limiter/grant-counters.ts";

export type GrantView = ReturnType<typeof viewGrant>;

/** @param inRedis the grant as Redis counts it; undefined if Redis does not have it. @param now a timestamp, by Redis's clock. */
export function viewGrant(record: GrantRecord, inRedis: Grant | undefined, now: string) {
  const { _id, account, key, surface, amount, expires_at, approved_by, reason, created_at, revoked_at } = record;
  const counted = record.step === "issued" ? inRedis : undefined;
  return {
    object: "grant",
    id: _id,
    account_id: account,
    key_id: key,
    surface,
    amount,
    /** Number of requests left in the grant. Null if it is not issued yet, or if Redis has lost its count. */
    remaining: counted?.remaining ?? null,
    status: statusOf(record, counted, now),
    expires_at,
    approved_by,
    reason,
    created_at,
    revoked_at,
  } as const;
}

/**
 * `pending`: its command is running or was interrupted; repeat it. `lost`: Redis has lost its count, and it is not issued
 * again. `exhausted`: nothing of it remains.
 */
function statusOf({ revoked_at, expires_at, step }: GrantRecord, counted: Grant | undefined, now: string) {
  if (revoked_at !== null) return "revoked";
  if (expires_at <= now) return "expired";
  if (step !== "issued") return "pending";
  if (counted === undefined) return "lost";
  return counted.remaining === 0 ? "exhausted" : "live";
}
