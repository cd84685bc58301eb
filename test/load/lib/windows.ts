import type { Limits } from "../../../src/limits/schema.ts";
import { sleep, UsageError } from "./host.ts";
import { type Finding, judge } from "./judge.ts";
import { limitsOf, type Run } from "./run.ts";

/** Reads the limits of every key. @throws {UsageError} unless they are different keys of one account, without grants. */
export async function limitsOfOneAccount(run: Run): Promise<[Limits, ...Limits[]]> {
  const limits = await run.allLimits();
  if (new Set(limits.map(({ account_id }) => account_id)).size > 1)
    throw new UsageError("The keys belong to several accounts. Give keys of one account.");
  if (new Set(limits.map(({ key_id }) => key_id)).size < limits.length) throw new UsageError("A key was given twice.");
  const granted = limits.find(({ grants }) => grants.some(({ surface }) => run.settings.surfaces.includes(surface)));
  if (granted !== undefined)
    throw new UsageError(`${granted.key_id} has a live grant. Use a key without one, or the scenario backfill.`);
  return limits;
}

/** Waits. @throws {UsageError} if the operator did not allow a wait of this many seconds for a window to end. */
export async function waitForEdge({ settings: { maxWaitMs }, host }: Run, seconds: number): Promise<void> {
  if (seconds * 1000 > maxWaitMs)
    throw new UsageError(
      `The window ends too late: in ${seconds} s, and the longest wait is ${maxWaitMs / 1000} s. Set MAX_WAIT, or try again then.`,
    );
  host.say(`waiting ${seconds} s for the end of the window`);
  await sleep(seconds * 1000);
}

/**
 * Judges every surface in one window. In the first window there was as much room as `before` says, in later ones as much
 * as the limits allow.
 */
export function judgeWindow(run: Run, before: readonly Limits[], window: number, prefix: string): Finding[] {
  const room = window === 0 ? "remaining" : "limit";
  return run.settings.surfaces.flatMap((surface) => {
    const rooms = before.map((limits) => limitsOf(limits, surface));
    const supply = { account: rooms[0]?.account[room] ?? 0, keys: rooms.map(({ key }) => key[room]) };
    return judge(prefix + surface, supply, run.tally.inWindow(window, surface, before.length));
  });
}
