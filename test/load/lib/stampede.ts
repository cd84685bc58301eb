import { askFor, findCandidate, interleaved, namesOf } from "./asks.ts";
import { type Finding, judge } from "./judge.ts";
import { type Ask, type Run, sendAll } from "./run.ts";
import { limitsOfOneAccount, nextWindow, refuseGrants, refuseLongWait } from "./windows.ts";

/** What each key offers beyond its limit, on each side of the edge. */
const BEYOND = 10;
/** How long the load rises before the edge, and falls after it. At most a third of the window. */
const LONGEST_LEAD_MS = 10_000;
/** Time for the first requests, which read what remains, before the load rises. */
const PREPARATION_MS = 3_000;

/**
 * All keys offer more than both limits in the seconds before the window's edge, and again in the seconds after it. The
 * rate peaks at the edge itself. Each answer says to which window it belongs. Demands exactness in both.
 */
export async function stampede(run: Run): Promise<Finding[]> {
  const { keys, surfaces } = run.settings;
  const limits = await limitsOfOneAccount(run);
  refuseGrants(run.settings, limits);
  let [{ reset, windowSeconds, surfaces: room }] = limits;
  const lead = Math.min(LONGEST_LEAD_MS, (windowSeconds * 1000) / 3);
  const usedUp = [room["list"], room["create"]].every((used) => used === undefined || used.account.remaining === 0);
  if (usedUp || reset * 1000 < lead + PREPARATION_MS) {
    await nextWindow(run, reset);
    reset = windowSeconds;
  }
  const quiet = reset * 1000 - lead - PREPARATION_MS;
  refuseLongWait(run.settings, Math.ceil(quiet / 1000));
  run.host.say(
    `the window ends in ${reset} s; the load starts ${Math.round((lead + PREPARATION_MS) / 1000)} s before that`,
  );
  await run.host.sleep(quiet);

  run.planned = surfaces.length * keys.length;
  const candidate = await findCandidate(run);
  for (const surface of surfaces) for (const key of keys.keys()) await run.send(askFor(surface, key, candidate));
  const edge = Date.now() + (await run.limits(0)).reset * 1000;
  const side = (dues: (count: number) => number[]): (Ask & { due: number })[] =>
    interleaved(
      surfaces.flatMap((surface) =>
        keys.map((_, key) =>
          dues(run.limitOf(surface, key) + BEYOND).map((due) => ({ ...askFor(surface, key, candidate), due })),
        ),
      ),
    );
  const before = side((count) => shares(count).map((share) => edge - lead + lead * Math.sqrt(share)));
  const after = side((count) => shares(count).map((share) => edge + lead * (1 - Math.sqrt(1 - share))));
  run.planned += before.length + after.length;
  await sendAll(
    run,
    [...before, ...after].toSorted((a, b) => a.due - b.due),
  );
  // A slow machine may run on into a third window. That one is judged too.
  return [...run.tally.windows.flatMap((window) => judged(run, window)), ...unreached(run)];
}

/** The edge was no stampede unless something was refused on both sides of it. */
function unreached(run: Run): Finding[] {
  const { keys, surfaces } = run.settings;
  return [0, 1].flatMap((window): Finding[] => {
    const counts = surfaces.flatMap((surface) => run.tally.inWindow(window, surface, keys.length));
    if (counts.some(({ account, key }) => account + key > 0)) return [];
    return [
      {
        result: "not proven",
        text: `window ${window + 1} refused nothing: this machine or the deployment is too slow for so much. Give fewer SURFACES.`,
      },
    ];
  });
}

/** 0, 1/count, 2/count, … */
function shares(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index / count);
}

function judged(run: Run, window: number): Finding[] {
  const { keys, surfaces } = run.settings;
  return surfaces.flatMap((surface) => {
    const full = { account: run.accountLimitOf(surface), keys: keys.map((_, key) => run.limitOf(surface, key)) };
    const supply = window === 0 ? run.supplyOf(surface) : full;
    const counts = run.tally.inWindow(window, surface, keys.length);
    return judge(`window ${window + 1}, ${surface}`, supply, counts, namesOf(run));
  });
}
