import type { ExpiryStore } from "../candidates/expiry-store.ts";
import { type Clock, timestamp } from "../infra/clock.ts";
import type { Sweep } from "./sweep.ts";

/** Marks accepted documents as expired when their expires_on has passed. The write puts the candidate on the feed. */
export function expiries(candidates: ExpiryStore, clock: Clock): Sweep {
  return {
    name: "expiries",
    async run(signal) {
      const today = timestamp(clock.now()).slice(0, "YYYY-MM-DD".length);
      let count = 0;
      for (let changed = -1; changed !== 0 && !signal.aborted; count += changed)
        changed = await candidates.expire(today);
      return count;
    },
  };
}
