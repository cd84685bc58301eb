import { type Settings, UsageError } from "./host.ts";
import type { Limits, Run } from "./run.ts";

/** Reads the limits of every key. @throws {UsageError} unless they are different keys of one account. */
export async function limitsOfOneAccount(run: Run): Promise<[Limits, ...Limits[]]> {
  const limits: [Limits, ...Limits[]] = [await run.limits(0)];
  for (let key = 1; key < run.settings.keys.length; key++) limits.push(await run.limits(key));
  if (new Set(limits.map(({ accountId }) => accountId)).size > 1)
    throw new UsageError("The keys belong to several accounts. Give keys of one account.");
  if (new Set(limits.map(({ keyId }) => keyId)).size < limits.length) throw new UsageError("A key was given twice.");
  return limits;
}

/** Waits until the window ends, and returns in the next one. @throws {UsageError} if it ends after the longest wait. */
export async function nextWindow(run: Run, reset: number): Promise<void> {
  refuseLongWait(run.settings, reset);
  run.host.say(`waiting ${reset} s for a new window`);
  await run.host.sleep(reset * 1000);
}

/** @throws {UsageError} if the operator did not allow a wait of this many seconds. */
export function refuseLongWait({ maxWaitMs }: Settings, seconds: number): void {
  if (seconds * 1000 > maxWaitMs)
    throw new UsageError(
      `The window ends in ${seconds} s, and the longest wait is ${maxWaitMs / 1000} s. Allow more, or try again then.`,
    );
}

/** @throws {UsageError} if a key has a live grant on one of the surfaces: it would be admitted beyond its limits. */
export function refuseGrants({ surfaces }: Settings, limits: readonly Limits[]): void {
  const granted = limits.find(({ grants }) => grants.some(({ surface }) => surfaces.includes(surface)));
  if (granted !== undefined)
    throw new UsageError(`${granted.keyId} has a live grant. Use a key without one, or the scenario backfill.`);
}
