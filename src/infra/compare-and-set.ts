import { setTimeout } from "node:timers/promises";
import { problem } from "../problems.ts";

/** After this many lost races in a row something is wrong: it is no longer a race. */
const MAX_ATTEMPTS = 50;
/** The wait after each lost race grows by up to this much, in milliseconds. */
const JITTER_MS = 5;

/**
 * Repeats a compare-and-set until it wins, waiting a little longer after each lost race.
 * @param what names the thing that is written, for the problem: "this candidate".
 * @param attempt reads, edits and writes once. It returns undefined if another write came in between; what it throws ends this.
 * @throws problem store_unavailable after 50 lost races.
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
