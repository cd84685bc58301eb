import type { Limits } from "../../../src/limits/schema.ts";
import { askFor } from "./asks.ts";
import { UsageError } from "./host.ts";
import type { Finding } from "./judge.ts";
import { limitsOf, type Run } from "./run.ts";

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
  // A service that never refuses is not asked for ever. Twice what is allowed leaves room for a second window.
  const most = 2 * (granted + limitsOf(before, "create").key.limit);
  const name = `load-${Date.now()}`;
  let [sent, refused] = [0, 0];
  const lane = async (): Promise<void> => {
    while (refused < BEYOND && sent < most) {
      const headers = { "Idempotency-Key": `${name}-${sent++}` };
      const { verdict } = await run.send({ ...askFor("create", 0, ""), headers });
      if (verdict === "account" || verdict === "key") refused++;
    }
  };
  await Promise.all(Array.from({ length: run.settings.connections }, lane));
  const left = grantedIn(await run.limits(0));
  const usedUp = left === 0 ? "exact" : "not exact";
  return [...judged(run, before, granted), { result: usedUp, text: `${left} of the grant are left, expected 0` }];
}

function grantedIn({ grants }: Limits): number {
  return grants.reduce((sum, { surface, remaining }) => sum + (surface === "create" ? remaining : 0), 0);
}

function howToGrant({ key_id }: Limits): string {
  const command = `grants create --key ${key_id} --surface create --amount 500 --expires-in-hours 1 --approved-by NAME --reason 'load test'`;
  return `The first key has no live grant for create. An operator issues one with: npm run --silent admin -- ${command}`;
}

/** In each window the window's own room is used first, then the grant, which no window restores. */
function judged({ tally }: Run, before: Limits, granted: number): Finding[] {
  const { account, key } = limitsOf(before, "create");
  let left = granted;
  return tally.windows.flatMap((window) =>
    tally.inWindow(window, "create", 1).map(({ offered, admitted, unknown }): Finding => {
      const own = window === 0 ? "remaining" : "limit";
      const room = Math.min(account[own], key[own]);
      const expected = Math.min(offered, room + left);
      const text = `window ${window + 1}, create: ${admitted} admitted of ${offered} offered, room for ${room} and a grant of ${left}, expected ${expected}`;
      left -= Math.max(0, admitted - room);
      if (unknown > 0) return { result: "not proven", text: `${text}; ${unknown} may or may not have counted` };
      return { result: admitted === expected ? "exact" : "not exact", text };
    }),
  );
}
