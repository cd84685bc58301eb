import type { Caller } from "../accounts/caller.ts";
import { timestamp } from "../infra/clock.ts";
import { secondsToReset } from "../limiter/headers.ts";
import type { Usage, UsageOptions } from "../limiter/usage.ts";
import type { Limits, LiveGrant, SurfaceLimits } from "./schema.ts";

export class LimitsService {
  readonly #windowSeconds: number;

  /** @param options `windowSeconds` is LIMIT_WINDOW_SECONDS. */
  constructor({ windowSeconds }: Pick<UsageOptions, "windowSeconds">) {
    this.#windowSeconds = windowSeconds;
  }

  /** Returns every surface of the caller's account and key, and the key's live grants. No round trip. */
  view(caller: Caller, usage: Usage): Limits {
    return {
      object: "limits",
      account_id: caller.accountId,
      key_id: caller.keyId,
      window_seconds: this.#windowSeconds,
      surfaces: usage.surfaces.map(({ surface, account, key }) => ({ surface, account, key, ...resetOf(usage) })),
      grants: usage.grants.map(viewLiveGrant),
    };
  }
}

export function resetOf({
  resetMs,
  nowMs,
}: Pick<Usage, "resetMs" | "nowMs">): Pick<SurfaceLimits, "reset" | "reset_at"> {
  return { reset: secondsToReset({ resetMs }), reset_at: timestamp(nowMs + resetMs) };
}

export function viewLiveGrant({ id, surface, amount, remaining, expiresAtMs }: Usage["grants"][number]): LiveGrant {
  return { object: "grant", id, surface, amount, remaining, expires_at: timestamp(expiresAtMs) };
}
