import type { GrantRecord } from "./store.ts";
import type { Grant } from "../limiter/grant-counters.ts";
import type { Surface } from "../limiter/surfaces.ts";

export interface GrantView {
  object: "grant";
  id: string;
  account_id: string;
  key_id: string;
  surface: Surface;
  amount: number;
  /** Requests it still admits. Null if Redis has no count of it, or if the grant is not issued yet. */
  remaining: number | null;
  /**
   * `pending`: its command is running or was interrupted; repeat it. `lost`: Redis has lost its count, and it is not
   * issued again. `exhausted`: nothing of it remains.
   */
  status: "live" | "exhausted" | "expired" | "revoked" | "pending" | "lost";
  expires_at: string;
  approved_by: string;
  reason: string;
  created_at: string;
  revoked_at: string | null;
}

/**
 * @param inRedis the grant as Redis counts it; undefined if Redis does not have it.
 * @param now a timestamp, by Redis's clock.
 */
export function viewGrant(record: GrantRecord, inRedis: Grant | undefined, now: string): GrantView {
  const { _id, account, key, surface, amount, expires_at, approved_by, reason, created_at, revoked_at } = record;
  const counted = record.step === "issued" ? inRedis : undefined;
  return {
    object: "grant",
    id: _id,
    account_id: account,
    key_id: key,
    surface,
    amount,
    remaining: counted?.remaining ?? null,
    status: statusOf(record, counted, now),
    expires_at,
    approved_by,
    reason,
    created_at,
    revoked_at,
  };
}

function statusOf(
  { revoked_at, expires_at, step }: GrantRecord,
  counted: Grant | undefined,
  now: string,
): GrantView["status"] {
  if (revoked_at !== null) return "revoked";
  if (expires_at <= now) return "expired";
  if (step !== "issued") return "pending";
  if (counted === undefined) return "lost";
  return counted.remaining === 0 ? "exhausted" : "live";
}
