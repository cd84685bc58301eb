import type { Eraser } from "../candidates/eraser.ts";
import type { CandidateReader } from "../candidates/reader.ts";
import type { CandidateBatches } from "../candidates/batch-store.ts";
import type { SweepStore } from "../candidates/sweep-store.ts";
import { isTombstone, unlessErased, namesFile } from "../candidates/erasure.ts";
import type { ContentStore, PendingFile } from "../content/store.ts";
import { KEPT_MS } from "../idempotency/idempotency.ts";
import type { IdempotencyStore } from "../idempotency/store.ts";
import { type Clock, timestamp } from "../infra/clock.ts";

/** Recurring work that any replica can do: it updates or removes what has become outdated with time. */
export interface Sweep {
  /** For the log and the metrics: lower-case words, joined by underscores. */
  readonly name: string;
  /**
   * Makes one pass over what is due, and returns how many items it handled. It must be safe to interrupt anywhere and
   * to run again. It must end soon after the signal: within one operation of the store.
   */
  run(signal: AbortSignal): Promise<number>;
}

const BATCH = 100;
/** Maximum time that a file is unsettled, in milliseconds: longer than any upload or download takes. */
const LEFT_OVER_MS = 60 * 60 * 1000;

/** Finishes erasures that a crash or an outage has interrupted. */
export function erasures(candidates: Pick<CandidateReader, "unfinishedErasures">, eraser: Eraser): Sweep {
  const due = () => candidates.unfinishedErasures(BATCH);
  return {
    name: "erasures",
    run: (signal) => inBatches(due, ({ accountId, id }) => unlessErased(eraser.finish(accountId, id, signal)), signal),
  };
}

/** Marks accepted documents as expired when their expires_on has passed. The write puts the candidate on the feed. */
export function expiries(candidates: Pick<CandidateBatches, "expire">, clock: Clock): Sweep {
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

/** Makes candidates findable that an earlier version wrote. */
export function missingWords({ wordless, addWords }: SweepStore): Sweep {
  return { name: "missing_words", run: (signal) => inBatches(() => wordless(BATCH), addWords, signal) };
}

/** Removes the records of Idempotency-Keys that are no longer valid. */
export function idempotencyRecords(records: IdempotencyStore, clock: Clock): Sweep {
  return { name: "idempotency_records", run: (signal) => records.removeOlderThan(clock.now() - KEPT_MS, signal) };
}

/** Removes bytes that no record names: those of interrupted uploads and of replaced files. */
export function leftOverBytes(content: ContentStore, candidates: Pick<CandidateReader, "find">): Sweep {
  async function isNamed({ _id, account, candidate }: PendingFile): Promise<boolean> {
    const record = await candidates.find(account, candidate);
    return record !== null && !isTombstone(record) && namesFile(record, _id);
  }
  const due = () => content.leftOvers(LEFT_OVER_MS);
  const remove = async (entry: PendingFile) =>
    (await unlessErased(content.removeLeftOver(entry, isNamed))) ?? content.postpone(entry);
  return { name: "left_over_bytes", run: (signal) => inBatches(due, remove, signal) };
}

/**
 * Handles all items that are due, batch by batch, until a batch has nothing to do. Returns how many were handled. If an item
 * fails, the others of its batch are still handled. The next pass finds it again.
 * @param find returns the next batch.
 * @param handle returns true if there was something to do.
 * @throws AggregateError with every failure, after the batch in which they occurred.
 */
export async function inBatches<Item>(
  find: () => Promise<readonly Item[]>,
  handle: (item: Item) => Promise<boolean | undefined>,
  signal: AbortSignal,
): Promise<number> {
  const failures: unknown[] = [];
  let count = 0;
  for (;;) {
    const before = count;
    for (const item of await find()) {
      if (signal.aborted) return count;
      try {
        if (await handle(item)) count++;
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0)
      throw new AggregateError(failures, `${failures.length} items failed, ${count} were handled`);
    if (count === before) return count;
  }
}
