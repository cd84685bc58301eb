import { setTimeout } from "node:timers/promises";
import { problem } from "../problems.ts";

/** Attempts before giving up. Losing this many races in a row is a fault, not contention. */
const MAX_ATTEMPTS = 50;
/** After each lost race, the longest random wait grows by this much, in milliseconds. */
const JITTER_MS = 5;

/**
 * Retries a compare-and-set until it succeeds. Waits a little longer after each lost race.
 * @param what names the thing that is written, for the problem: "this candidate".
 * @param attempt reads, edits and writes once. It returns undefined if another write came in between. It is not retried if it throws.
 * @throws problem `store_unavailable` after 50 lost races, and what `attempt` throws.
 */
export async function compareAndSet<Written>(
  what: string,
  attempt: () => Promise<Written | undefined>,
): Promise<Written> {
  for (let lost = 0; lost < MAX_ATTEMPTS; lost++) {
    const written = await attempt();
    if (written !== undefined) return written;
    await setTimeout(Math.random() * JITTER_MS * (lost + 1));
  }
  throw problem("store_unavailable", `Too many changes to ${what} at once. Retry in a second.`, {
    headers: { "Retry-After": "1" },
  });
}
