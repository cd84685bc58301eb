import type { Surface } from "../../../src/limiter/surfaces.ts";
import type { Limits } from "../../../src/limits/schema.ts";
import { askFor, findCandidate, interleaved, sendAll } from "./asks.ts";
import { type Finding, isGood } from "./judge.ts";
import { type Ask, limitsOf, type Run } from "./run.ts";
import { judgeWindow, limitsOfOneAccount, waitForEdge } from "./windows.ts";

/** What each key offers beyond its limit on a surface. */
const BEYOND = 10;
/** The run waits for a new window if less of this one is left. In a short window, half of the window is enough. */
const NEEDED_SECONDS = 30;

/**
 * Offers more than both limits allow on every surface, within one window. First the first key alone, so that its own limit
 * refuses; then all other keys at once, so that the account's limit refuses. Demands admitted == min(offered, limit) for
 * the account and for each key.
 */
export async function exactness(run: Run): Promise<Finding[]> {
  const { surfaces } = run.settings;
  const before = await enterWindow(run);
  const candidate = await findCandidate(run);
  const offers = (surface: Surface, limits: Limits, key: number): Ask[] =>
    Array.from({ length: limitsOf(limits, surface).key.limit + BEYOND }, () => askFor(surface, key, candidate));
  const offer = (from: number, to: number): Promise<void> =>
    sendAll(
      run,
      interleaved(
        surfaces.flatMap((surface) =>
          before.slice(from, to).map((limits, index) => offers(surface, limits, from + index)),
        ),
      ),
    );
  await offer(0, 1);
  // Until now the account had room for all, so here key 1 is compared with its own limit only.
  const alone = judgeWindow(run, before, 0, "after key 1 alone, ");
  await offer(1, before.length);
  if (run.tally.windows.length > 1)
    return [
      { result: "not proven", text: "The run did not fit into one window. Run it again, with more CONNECTIONS." },
    ];
  const all = judgeWindow(run, before, 0, "");
  return [...alone.filter((finding) => !isGood(finding)), ...all, ...(await agreement(run, before[0]))];
}

/** Reads the limits in a window with enough time left. */
async function enterWindow(run: Run): Promise<[Limits, ...Limits[]]> {
  let before = await limitsOfOneAccount(run);
  const { surfaces, window_seconds } = before[0];
  const reset = surfaces[0]?.reset ?? 1;
  if (reset < Math.min(NEEDED_SECONDS, window_seconds / 2)) {
    await waitForEdge(run, reset);
    before = await limitsOfOneAccount(run);
  }
  for (const surface of run.settings.surfaces) {
    const { used } = limitsOf(before[0], surface).account;
    if (used > 0) run.host.say(`${surface}: ${used} already used in this window. The run is held to what remains.`);
  }
  return before;
}

/** Compares what was admitted with what the service itself counted for the account meanwhile. */
async function agreement(run: Run, before: Limits): Promise<Finding[]> {
  const after = await run.limits(0);
  return run.settings.surfaces.flatMap((surface): Finding[] => {
    const counts = run.tally.inWindow(0, surface, run.settings.keys.length);
    const admitted = counts.reduce((sum, count) => sum + count.admitted, 0);
    const unknown = counts.reduce((sum, count) => sum + count.unknown, 0);
    const counted = limitsOf(after, surface).account.used - limitsOf(before, surface).account.used;
    if (counted >= admitted && counted <= admitted + unknown) return [];
    const text = `${surface}: the service counted ${counted} requests of the account, and ${admitted} were admitted here. If somebody else used the account, run it again alone.`;
    return [{ result: "not exact", text }];
  });
}
