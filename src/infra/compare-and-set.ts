import { setTimeout } from "node:timers/promises";
import { problem } from "../problems.ts";
import { isStoreDown } from "./mongo.ts";

/** Attempts before giving up. Losing this many races in a row is a fault, not contention. */
const MAX_ATTEMPTS = 50;
/** Growth of the maximum random wait with each lost race, in milliseconds. */
const JITTER_MS = 5;

/**
 * Retries a compare-and-set until it succeeds. Waits a little longer after each lost race.
 * @param what names the thing that is written, for the problem: "this candidate".
 * @param attempt reads, edits and writes once. It returns undefined if another write came in between.
 * @throws problem `store_unavailable` after 50 lost races, and what `attempt` throws.
 */
export async function compareAndSet<Written>(what: string, attempt: () => Promise<Written | undefined>) {
  for (let lost = 0; lost < MAX_ATTEMPTS; lost++) {
    const written = await attempt();
    if (written !== undefined) return written;
    await setTimeout(Math.random() * JITTER_MS * (lost + 1));
  }
  const detail = `Too many changes to ${what} at once. Retry in a second.`;
  throw problem("store_unavailable", detail, { headers: { "Retry-After": "1" } });
}

/**
 * A queue per key. Tasks with the same key run one after the other, in order; tasks with different keys run concurrently. If
 * the store does not respond to one task, those that wait behind it fail with the same error.
 */
export class KeyedQueue {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs a task after all earlier tasks with the same key have ended, whether they succeeded or failed. */
  async run<T>(key: string, task: () => Promise<T>): Promise<T> {
    const previous = this.#last.get(key) ?? Promise.resolve();
    const result = previous.then(() => task());
    const settled = result.catch((error: unknown) => {
      if (isStoreDown(error)) throw error;
    });
    this.#last.set(key, settled);
    await settled.catch(() => undefined);
    if (this.#last.get(key) === settled) this.#last.delete(key);
    return result;
  }
}
