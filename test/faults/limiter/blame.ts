import type { Entry } from "./ledger.ts";
import type { Machine } from "./machine.ts";

/** LIMITER_TIMEOUT_MS of the fault tests. Above the default, because all processes may share two busy cores. */
export const TIMEOUT_MS = 400;
/** The limiter's error messages if Redis responds too late, or gets the charge too late. */
const LATE_ANSWER = /did not answer within|reached Redis after its deadline/;
/** After this long without a response the service closes its connection to Redis, and returns 503 until it has another. */
const SILENCE_MS = 1_000;
/** Longest time from the beginning of such a silence to a 503 that follows from it. */
const FOLLOWS_WITHIN_MS = 1_500;

/**
 * Returns whether the machine caused a 503. A charge that takes TIMEOUT_MS is too late, and SILENCE_MS without a response
 * closes the connection. The machine is the cause if the processes waited for a CPU for at least half of that time. With
 * two cores and nothing else to do, their waits add up to a fifth of the time that passes.
 */
export function isOfMachine(entry: Entry, machine: Machine): boolean {
  const to = decidedAt(entry);
  const [allowedMs, withinMs] = LATE_ANSWER.test(entry.error?.message ?? "")
    ? [TIMEOUT_MS, entry.ms]
    : [SILENCE_MS, FOLLOWS_WITHIN_MS];
  return machine.keptDecisionWaitingMs(entry.pid, to - withinMs, to) >= allowedMs / 2;
}

/** The entry as if the machine had never kept its replica waiting. */
export function withoutWait(entry: Entry, machine: Machine): Entry {
  const to = decidedAt(entry);
  return { ...entry, ms: entry.ms - machine.keptWaitingMs(entry.pid, to - entry.ms, to) };
}

export function decidedAt({ time }: Entry): number {
  return Date.parse(time);
}
