import { askFor, findCandidate, interleaved, namesOf } from "./asks.ts";
import { UsageError } from "./host.ts";
import { type Finding, isGood, judge } from "./judge.ts";
import { type Ask, type Limits, reasonOf, type Run, sendAll } from "./run.ts";
import { limitsOfOneAccount, nextWindow, refuseGrants } from "./windows.ts";

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
  const { keys, surfaces } = run.settings;
  const before = await enterWindow(run);
  const candidate = await findCandidate(run);
  await probe(run, candidate);
  const offers = (surface: string, key: number): Ask[] =>
    Array.from({ length: run.limitOf(surface, key) + BEYOND }, () => askFor(surface, key, candidate));

  const total = surfaces.flatMap((surface) => keys.map((_, key) => run.limitOf(surface, key) + BEYOND + 1));
  run.planned = total.reduce((sum, count) => sum + count, 0);
  await sendAll(run, interleaved(surfaces.map((surface) => offers(surface, 0))));
  // Until now the account had room for all, so here key 1 is compared with its own limit only.
  const alone = judged(run, ", after key 1 alone");
  const others = keys.map((_, key) => key).slice(1);
  await sendAll(run, interleaved(surfaces.flatMap((surface) => others.map((key) => offers(surface, key)))));
  if (run.tally.windows.length > 1)
    return [
      { result: "not proven", text: "The run did not fit into one window. Run it again, with more CONNECTIONS." },
    ];
  return [...alone.filter((finding) => !isGood(finding)), ...judged(run), ...(await agreement(run, before))];
}

/** Reads the limits in a window with enough time left. @throws {UsageError} if a key has a live grant. */
async function enterWindow(run: Run): Promise<Limits[]> {
  const { surfaces, fresh } = run.settings;
  let before = await limitsOfOneAccount(run);
  const { reset, windowSeconds } = before[0];
  if (fresh || reset < Math.min(NEEDED_SECONDS, windowSeconds / 2)) {
    await nextWindow(run, reset);
    before = await limitsOfOneAccount(run);
  }
  refuseGrants(run.settings, before);
  for (const surface of surfaces) {
    const used = before[0].surfaces[surface]?.account.used ?? 0;
    if (used > 0) run.host.say(`${surface}: ${used} already used in this window. The run is held to what remains.`);
  }
  return before;
}

/** Sends one request of each key on each surface, one after the other. Their headers say the limits and what remains. */
async function probe(run: Run, candidate: string): Promise<void> {
  for (const surface of run.settings.surfaces) {
    for (let key = 0; key < run.settings.keys.length && !run.over; key++) {
      const { fault, answer } = await run.send(askFor(surface, key, candidate));
      if (run.limitOf(surface, key) === 0)
        throw new UsageError(`${surface} with key ${key + 1} states no limit: ${fault ?? reasonOf(answer)}`);
    }
  }
}

function judged(run: Run, when = ""): Finding[] {
  const { keys, surfaces } = run.settings;
  return surfaces.flatMap((surface) =>
    judge(surface + when, run.supplyOf(surface), run.tally.inWindow(0, surface, keys.length), namesOf(run)),
  );
}

/** Compares what was admitted with what the service itself counted for the account meanwhile. */
async function agreement(run: Run, before: readonly Limits[]): Promise<Finding[]> {
  if (run.over) return [];
  const after = await run.limits(0);
  return run.settings.surfaces.flatMap((surface): Finding[] => {
    const counts = run.tally.inWindow(0, surface, run.settings.keys.length);
    const admitted = counts.reduce((sum, count) => sum + count.admitted, 0);
    const unknown = counts.reduce((sum, count) => sum + count.unknown, 0);
    const counted = (after.surfaces[surface]?.account.used ?? 0) - (before[0]?.surfaces[surface]?.account.used ?? 0);
    if (counted >= admitted && counted <= admitted + unknown) return [];
    const text = `${surface}: the service counted ${counted} requests of the account, and ${admitted} were admitted here. If somebody else used the account, run it again alone.`;
    return [{ result: "not exact", text }];
  });
}
