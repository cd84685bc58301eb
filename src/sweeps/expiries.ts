import { expired } from "../candidates/expire.ts";
import type { CandidateStore, Edit } from "../candidates/store.ts";
import { type Clock, timestamp } from "../infra/clock.ts";
import { Problem } from "../problems.ts";
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
        const edit: Edit = (record, now) => {
          const after = expired(record, today, now);
          changed = after !== record;
          return after;
        };
        await candidates.change(accountId, id, edit).catch(ignoreDeleted);
        return changed;
      }
      return inBatches(() => candidates.reader.expiring(today, BATCH), expire, signal);
    },
  };
}

/** A candidate may be deleted after it was found. */
function ignoreDeleted(error: unknown): void {
  if (!(error instanceof Problem && error.code === "candidate_deleted")) throw error;
}
