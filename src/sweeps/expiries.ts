import { expired } from "../candidates/expire.ts";
import type { CandidateStore } from "../candidates/store.ts";
import { type Clock, timestamp } from "../infra/clock.ts";
import { inBatches } from "./in-batches.ts";
import type { Sweep } from "./sweep.ts";

/** Candidates per batch. */
const BATCH = 100;

/** Marks accepted documents as expired when their expires_on has passed. The write puts the candidate on the feed. */
export function expiries(candidates: CandidateStore, clock: Clock): Sweep {
  return {
    name: "expiries",
    run(signal) {
      const today = timestamp(clock.now()).slice(0, "YYYY-MM-DD".length);
      async function expire({ accountId, id }: { accountId: string; id: string }): Promise<boolean> {
        let changed = false;
        await candidates.change(accountId, id, (record, now) => {
          const after = expired(record, today, now);
          changed = after !== record;
          return after;
        });
        return changed;
      }
      return inBatches(() => candidates.reader.expiring(today, BATCH), expire, signal);
    },
  };
}
