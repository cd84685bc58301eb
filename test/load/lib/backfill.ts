import { UsageError } from "./host.ts";
import type { Finding } from "./judge.ts";
import type { Limits, Run } from "./run.ts";

/** Refusals after which the grant counts as used up. */
const BEYOND = 10;

/**
 * Creates candidates with the first key until the window and its grant are used up. Demands that exactly as many are
 * admitted as both together allow. It may run across a window's edge: each answer says to which window it belongs.
 */
export async function backfill(run: Run): Promise<Finding[]> {
  const before = await run.limits(0);
  const granted = grantedIn(before);
  if (granted === 0) throw new UsageError(howToGrant(before));
  const room = before.surfaces["create"];
  if (room === undefined) throw new UsageError("GET /limits shows no surface create.");
  const needed = Math.min(room.account.remaining, room.key.remaining) + granted + BEYOND;
  if (needed > run.settings.maxRequests)
    throw new UsageError(`The grant has ${granted} left. Allow more requests than ${run.settings.maxRequests}.`);

  run.planned = needed;
  const name = `load-${Date.now()}`;
  let [sent, refused] = [0, 0];
  const lane = async (): Promise<void> => {
    while (!run.over && refused < BEYOND) {
      const headers = { "Idempotency-Key": `${name}-${sent++}` };
      const ask = { method: "POST", path: "/candidates", surface: "create", key: 0, json: {}, headers };
      const { verdict } = await run.send(ask);
      if (verdict === "account" || verdict === "key") refused++;
    }
  };
  await Promise.all(Array.from({ length: run.settings.connections }, lane));
  return [...judged(run, before, granted), await usedUp(run)];
}

function grantedIn({ grants }: Limits): number {
  return grants.reduce((sum, { surface, remaining }) => sum + (surface === "create" ? remaining : 0), 0);
}

function howToGrant({ keyId }: Limits): string {
  const command = `grants create --key ${keyId} --surface create --amount 500 --expires-in-hours 1 --approved-by NAME --reason 'load test'`;
  return `The first key has no live grant for create. An operator issues one with: npm run --silent admin -- ${command}`;
}

/** In each window the window's own room is used first, then the grant, which no window restores. */
function judged(run: Run, before: Limits, granted: number): Finding[] {
  const room = before.surfaces["create"]!;
  let left = granted;
  return run.tally.windows.map((window) => {
    const { offered, admitted, unknown } = run.tally.inWindow(window, "create", 1)[0]!;
    const own = window === 0 ? ("remaining" as const) : ("limit" as const);
    const windowRoom = Math.min(room.account[own], room.key[own]);
    const expected = Math.min(offered, windowRoom + left);
    const text = `window ${window + 1}, create: ${admitted} admitted of ${offered} offered, room for ${windowRoom} and a grant of ${left}, expected ${expected}`;
    left -= Math.max(0, admitted - windowRoom);
    if (unknown > 0) return { result: "not proven", text: `${text}; ${unknown} may or may not have counted` };
    return { result: admitted === expected ? "exact" : "not exact", text };
  });
}

async function usedUp(run: Run): Promise<Finding> {
  const left = grantedIn(await run.limits(0));
  return { result: left === 0 ? "exact" : "not exact", text: `${left} of the grant are left, expected 0` };
}
