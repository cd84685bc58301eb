import { askFor, findCandidate, interleaved, sendAll } from "./asks.ts";
import type { Finding } from "./judge.ts";
import { type Ask, limitsOf, type Run } from "./run.ts";
import { judgeWindow, limitsOfOneAccount, waitForEdge } from "./windows.ts";

/** What each key offers beyond its limit, on each side of the edge. */
const BEYOND = 10;
/** How long the load rises before the edge, and falls after it. At most a third of the window. */
const LONGEST_LEAD_MS = 10_000;
/** Time to find a candidate before the load rises. */
const PREPARATION_MS = 3_000;

/**
 * All keys offer more than both limits in the seconds before the window's edge, and again in the seconds after it. The
 * rate peaks at the edge itself. Each answer says to which window it belongs. Demands exactness in both.
 */
export async function stampede(run: Run): Promise<Finding[]> {
  const { surfaces } = run.settings;
  const [first] = await limitsOfOneAccount(run);
  let reset = limitsOf(first, "list").reset;
  const lead = Math.min(LONGEST_LEAD_MS, (first.window_seconds * 1000) / 3);
  const usedUp = (["list", "create"] as const).every((surface) => limitsOf(first, surface).account.remaining === 0);
  if (usedUp || reset * 1000 < lead + PREPARATION_MS) {
    await waitForEdge(run, reset);
    reset = first.window_seconds;
  }
  await waitForEdge(run, Math.max(0, reset - Math.ceil((lead + PREPARATION_MS) / 1000)));

  const before = await limitsOfOneAccount(run);
  const edge = Date.now() + limitsOf(before[0], "list").reset * 1000;
  const candidate = await findCandidate(run);
  /** The requests of all keys, each with its time. `when` maps 0, 1/count, 2/count, … to the milliseconds after the edge. */
  const side = (when: (share: number) => number): (Ask & { due: number })[] =>
    interleaved(
      surfaces.flatMap((surface) =>
        before.map((limits, key) => {
          const count = limitsOf(limits, surface).key.limit + BEYOND;
          const ask = askFor(surface, key, candidate);
          return Array.from({ length: count }, (_, index) => ({ ...ask, due: edge + when(index / count) }));
        }),
      ),
    );
  const asks = [
    ...side((share) => lead * (Math.sqrt(share) - 1)),
    ...side((share) => lead * (1 - Math.sqrt(1 - share))),
  ];
  await sendAll(
    run,
    asks.toSorted((a, b) => a.due - b.due),
  );
  // A slow machine may run on into a third window. That one is judged too.
  const judged = run.tally.windows.flatMap((window) => judgeWindow(run, before, window, `window ${window + 1}, `));
  return [...judged, ...unreached(run)];
}

/** The edge was no stampede unless something was refused on both sides of it. */
function unreached({ settings: { keys, surfaces }, tally }: Run): Finding[] {
  return [0, 1].flatMap((window): Finding[] => {
    const counts = surfaces.flatMap((surface) => tally.inWindow(window, surface, keys.length));
    if (counts.some(({ account, key }) => account + key > 0)) return [];
    return [
      {
        result: "not proven",
        text: `window ${window + 1} refused nothing: this machine or the deployment is too slow for so much. Give fewer SURFACES.`,
      },
    ];
  });
}
