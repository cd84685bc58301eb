import type { Caller } from "../accounts/caller.ts";
import { timestamp } from "../infra/clock.ts";
import { secondsToReset } from "../limiter/headers.ts";
import type { Usage } from "../limiter/usage.ts";
import type { Limits, LiveGrant } from "./schema.ts";

/** Returns every surface of the caller's account and key, and the key's live grants. */
export function viewLimits({ accountId, keyId }: Caller, usage: Usage): Limits {
  const reset = resetOf(usage);
  return {
    object: "limits",
    account_id: accountId,
    key_id: keyId,
    window_seconds: usage.windowSeconds,
    surfaces: usage.surfaces.map((surface) => ({ ...surface, ...reset })),
    grants: usage.grants.map(viewLiveGrant),
  };
}

export function resetOf({ resetMs, nowMs }: Usage) {
  return { reset: secondsToReset({ resetMs }), reset_at: timestamp(nowMs + resetMs) };
}

export function viewLiveGrant({ id, surface, amount, remaining, expiresAtMs }: Usage["grants"][number]): LiveGrant {
  return { object: "grant", id, surface, amount, remaining, expires_at: timestamp(expiresAtMs) };
}
