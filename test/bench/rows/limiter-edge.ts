import { setTimeout as wait } from "node:timers/promises";
import type { RedisClient } from "../../../src/infra/redis.ts";
import type { Bench } from "../bench.ts";
import { admit, callsOf, lookUpAccounts, numberedCall } from "../charges.ts";
import { fillWithCopies } from "../copied-accounts.ts";
import type { EmptyDatabase } from "../empty-database.ts";
import { notMeasured, ratioBound, type Row } from "../report.ts";
import { quantileOf, relativeSpread, spreadOf } from "../stats.ts";

/** Decisions in a second. One core of Redis bears many times as many. */
const RATE = 2000;
/** Load that is not measured, before all that is. */
const SETTLE_SECONDS = 1;
/** Time to fill Redis with one account, in seconds, and with none. */
const FILL_SECONDS_EACH = 0.0003;
const FILL_SECONDS = 1;
const BOUND = 2;
/** Distance of the quartiles of the p99 of the seconds before the edge, as a share of their median, beyond which it is noise. */
const NOISY = 1;

/** A decision: when it was asked for, in seconds from the end of the window, and what it took, in milliseconds. */
interface Decided {
  readonly at: number;
  readonly ms: number;
}

/**
 * Fills Redis with the ledgers of many accounts, all of one window, and measures how long decisions take before that window
 * ends and after it: of accounts, keys and surfaces by chance. The window is shorter than an hour, so that its end comes
 * while the bench runs.
 */
export async function edgeRow({ options: { edge }, signal }: Bench, database: EmptyDatabase): Promise<Row> {
  const { redis, charges } = database;
  const beforeMs = (edge.seconds + SETTLE_SECONDS) * 1000;
  const fillSeconds = FILL_SECONDS + edge.accounts * FILL_SECONDS_EACH;
  const windowSeconds = windowThatEndsIn(fillSeconds + beforeMs / 1000, Date.now() / 1000);
  // An account of its own tells when the window ends, by Redis's clock.
  await lookUpAccounts(charges, edge.accounts, edge.accounts + 1);
  const { nowMs, window } = await admit(charges, numberedCall(callsOf(edge.accounts), windowSeconds));
  const endsAt = performance.now() + (window + 1) * windowSeconds * 1000 - nowMs;
  const until = endsAt - beforeMs;
  const accounts = await fillWithCopies({ redis, charges, signal, windowSeconds, until }, edge.accounts);
  if (performance.now() > endsAt) throw new Error("The window ended before Redis was filled.");
  await wait(Math.max(0, until - performance.now()), undefined, { signal });
  const decided = await steadyLoad(charges, endsAt, edge.seconds, () => {
    signal.throwIfAborted();
    return numberedCall(Math.floor(Math.random() * callsOf(accounts)), windowSeconds);
  });
  await redis.flushdb("SYNC");
  const what = `p99 of a decision in the ${edge.seconds} s after the hour's edge, ${edge.accounts} accounts`;
  const row = rowOf(what, decided);
  return accounts < edge.accounts
    ? notMeasured(what, row.bound, `${row.measured} with ${accounts} accounts: to fill Redis took too long`)
    : row;
}

/**
 * Returns the length of window whose next end comes soonest, but not within `seconds`. Windows are those of the clock, as the
 * limiter's: their ends are the multiples of their length. All in seconds.
 */
export function windowThatEndsIn(seconds: number, now: number): number {
  const shortest = Math.ceil(seconds);
  const lengths = Array.from({ length: 9 * shortest }, (_, more) => shortest + more);
  const left = (length: number) => length - (now % length);
  return lengths
    .filter((length) => left(length) >= seconds)
    .reduce((best, length) => (left(length) < left(best) ? length : best), Infinity);
}

/**
 * Sends charges at a steady rate, whether or not they are answered, until `seconds` after the time `endsAt` of
 * performance.now().
 * @returns those from `seconds` before it on.
 */
async function steadyLoad(
  redis: RedisClient,
  endsAt: number,
  seconds: number,
  nextCall: () => Parameters<typeof admit>[1],
): Promise<Decided[]> {
  const decided: Decided[] = [];
  const sent: Promise<unknown>[] = [];
  const begun = performance.now();
  for (let now = begun; now < endsAt + seconds * 1000; now = performance.now()) {
    while (sent.length < ((now - begun) / 1000) * RATE) {
      const at = performance.now();
      const note = () => decided.push({ at: (at - endsAt) / 1000, ms: performance.now() - at });
      sent.push(admit(redis, nextCall()).then(note));
    }
    await wait(1);
  }
  await Promise.all(sent);
  return decided.filter(({ at }) => at >= -seconds);
}

function rowOf(what: string, decided: readonly Decided[]): Row {
  const bound = ratioBound(BOUND, "before it");
  const secondsBefore = [...new Set(decided.map(({ at }) => Math.floor(at)))].filter((second) => second < 0);
  // Nothing but the machine makes these rise.
  const calm = spreadOf(secondsBefore.map((second) => p99Of(decided, second, second + 1)));
  if (relativeSpread(calm) > NOISY) {
    const measured = `too noisy (before it ${show(calm.q1)}-${show(calm.q3)})`;
    return { what, bound, measured, verdict: "too noisy" };
  }
  const [before, after] = [p99Of(decided, -Infinity, 0), p99Of(decided, 0, Infinity)];
  const measured = `${(after / before).toFixed(2)} (${show(before)}, then ${show(after)})`;
  return { what, bound, measured, verdict: after / before <= BOUND ? "met" : "not met" };
}

function p99Of(decided: readonly Decided[], from: number, to: number): number {
  const ms = decided.filter(({ at }) => at >= from && at < to).map((one) => one.ms);
  return quantileOf(
    ms.toSorted((a, b) => a - b),
    0.99,
  );
}

function show(ms: number): string {
  return `${ms.toFixed(1)} ms`;
}
