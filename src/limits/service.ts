import type { Caller } from "../accounts/caller.ts";
import { timestamp } from "../infra/clock.ts";
import { secondsToReset } from "../limiter/headers.ts";
import { readUsage, type Usage, type UsageOptions } from "../limiter/usage.ts";
import type { Limits, LiveGrant, SurfaceLimits } from "./schema.ts";

/** Reads what a caller has used of its limits. Charges nothing. */
export class LimitsService {
  readonly #options: UsageOptions;

  constructor(options: UsageOptions) {
    this.#options = options;
  }

  /**
   * Returns every surface of the caller's account and key, and the key's live grants. One round trip.
   * @throws problem `limiter_unavailable`
   */
  async read(caller: Caller): Promise<Limits> {
    const { surfaces, grants, nowMs } = await readUsage(this.#options, caller);
    return {
      object: "limits",
      account_id: caller.accountId,
      key_id: caller.keyId,
      window_seconds: this.#options.windowSeconds,
      surfaces: surfaces.map(({ surface, account, key, resetMs }) => ({
        surface,
        account,
        key,
        ...resetOf(resetMs, nowMs),
      })),
      grants: grants.map(viewLiveGrant),
    };
  }
}

export function resetOf(resetMs: number, nowMs: number): Pick<SurfaceLimits, "reset" | "reset_at"> {
  return { reset: secondsToReset({ resetMs }), reset_at: timestamp(nowMs + resetMs) };
}

export function viewLiveGrant({ id, surface, amount, remaining, expiresAtMs }: Usage["grants"][number]): LiveGrant {
  return { object: "grant", id, surface, amount, remaining, expires_at: timestamp(expiresAtMs) };
}
