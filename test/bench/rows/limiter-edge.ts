import { setTimeout as wait } from "node:timers/promises";
import type { RedisClient } from "../../../src/infra/redis.ts";
import { admit, callsOf, lookUpAccounts, numberedCall } from "../charges.ts";
import { lineChart } from "../charts.ts";
import { fillWithCopies } from "../copied-accounts.ts";
import type { FilledBench } from "../empty-database.ts";
import { type Chart, notMeasured, ratioBound, type Row, type Table } from "../report.ts";
import { quantileOf, relativeSpread, type Spread, spreadOf } from "../stats.ts";

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
 * ends and after it.
 */
export async function measureEdge(bench: FilledBench): Promise<{ row: Row; tables: Table[]; charts: Chart[] }> {
  const { edge } = bench.options;
  const beforeMs = (edge.seconds + SETTLE_SECONDS) * 1000;
  const fillSeconds = FILL_SECONDS + edge.accounts * FILL_SECONDS_EACH;
  const windowSeconds = windowThatEndsIn(fillSeconds + beforeMs / 1000, Date.now() / 1000);
  // An account of its own tells when the window ends, by Redis's clock.
  await lookUpAccounts(bench.charges, edge.accounts, edge.accounts + 1);
  const { nowMs, window } = await admit(bench.charges, numberedCall(callsOf(edge.accounts), windowSeconds));
  const endsAt = performance.now() + (window + 1) * windowSeconds * 1000 - nowMs;
  const until = endsAt - beforeMs;
  const accounts = await fillWithCopies({ ...bench, windowSeconds, until }, edge.accounts);
  if (performance.now() > endsAt) throw new Error("The window ended before Redis was filled.");
  await wait(Math.max(0, until - performance.now()), undefined, { signal: bench.signal });
  const decided = await steadyLoad(bench.charges, endsAt + edge.seconds * 1000, () => {
    bench.signal.throwIfAborted();
    return numberedCall(Math.floor(Math.random() * callsOf(accounts)), windowSeconds);
  });
  await bench.redis.flushdb("SYNC");
  const timed = decided
    .map(({ at, ms }): Decided => ({ at: (at - endsAt) / 1000, ms }))
    .filter(({ at }) => at >= -edge.seconds);
  return edgeOf(timed, { accounts, wanted: edge.accounts, seconds: edge.seconds });
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

/** Sends charges at a steady rate until the time `end`, whether or not they are answered. Times are of performance.now(). */
async function steadyLoad(
  redis: RedisClient,
  end: number,
  nextCall: () => Parameters<typeof admit>[1],
): Promise<Decided[]> {
  const decided: Decided[] = [];
  const sent: Promise<unknown>[] = [];
  const begun = performance.now();
  for (let now = begun; now < end; now = performance.now()) {
    while (sent.length < ((now - begun) / 1000) * RATE) {
      const at = performance.now();
      sent.push(admit(redis, nextCall()).then(() => decided.push({ at, ms: performance.now() - at })));
    }
    await wait(1);
  }
  await Promise.all(sent);
  return decided;
}

function edgeOf(
  decided: readonly Decided[],
  { accounts, wanted, seconds }: { accounts: number; wanted: number; seconds: number },
): { row: Row; tables: Table[]; charts: Chart[] } {
  const before = latencies(decided, -Infinity, 0);
  const after = latencies(decided, 0, Infinity);
  const numbers = (title: string, all: readonly number[]) => [
    title,
    `${all.length}`,
    ...[0.5, 0.99, 1].map((share) => show(quantileOf(all, share))),
  ];
  const what = `p99 of a decision in the ${seconds} s after the hour's edge, ${wanted} accounts`;
  const row = rowOf(what, before, after, spreadOf(bySecond(decided).flatMap(({ x, p99 }) => (x < 0 ? [p99] : []))));
  return {
    row:
      accounts < wanted
        ? notMeasured(what, row.bound, `${row.measured} with ${accounts} accounts: to fill Redis took too long`)
        : row,
    tables: [
      {
        title: `The hour's edge, with ${accounts} accounts of two keys on all surfaces in Redis`,
        head: ["decisions in", "count", "p50", "p99", "most"],
        rows: [numbers(`the ${seconds} s before`, before), numbers(`the ${seconds} s after`, after)],
        caption: `${RATE} decisions a second, of accounts, keys and surfaces by chance. The window is shorter than an hour, so that its end comes while the bench runs.`,
      },
    ],
    charts: [edgeChart(decided, accounts)],
  };
}

/** @param calm the p99 of each second before the edge, when nothing but the machine can make it rise. */
function rowOf(what: string, before: readonly number[], after: readonly number[], calm: Spread): Row {
  const bound = ratioBound(BOUND, "before it");
  if (relativeSpread(calm) > NOISY) {
    const measured = `too noisy (before it ${show(calm.q1)}-${show(calm.q3)})`;
    return { what, bound, measured, verdict: "too noisy" };
  }
  const [p99, then] = [quantileOf(before, 0.99), quantileOf(after, 0.99)];
  const measured = `${(then / p99).toFixed(2)} (${show(p99)}, then ${show(then)})`;
  return { what, bound, measured, verdict: then / p99 <= BOUND ? "met" : "not met" };
}

function show(ms: number): string {
  return `${ms.toFixed(1)} ms`;
}

/** In ascending order. */
function latencies(decided: readonly Decided[], from: number, to: number): number[] {
  const ms = decided.filter(({ at }) => at >= from && at < to).map((one) => one.ms);
  return ms.toSorted((a, b) => a - b);
}

function bySecond(decided: readonly Decided[]): { x: number; p50: number; p99: number }[] {
  const seconds = [...new Set(decided.map(({ at }) => Math.floor(at)))].toSorted((a, b) => a - b);
  return seconds.map((x) => {
    const all = latencies(decided, x, x + 1);
    return { x, p50: quantileOf(all, 0.5), p99: quantileOf(all, 0.99) };
  });
}

function edgeChart(decided: readonly Decided[], accounts: number): Chart {
  const seconds = bySecond(decided);
  const worst = seconds.reduce((most, second) => (second.p99 > most.p99 ? second : most));
  return lineChart({
    title: `Around the hour's edge the p99 of a decision is at most ${show(worst.p99)}, at second ${worst.x}`,
    caption: `${accounts} accounts have a ledger of the window that ends at 0. ${RATE} decisions a second. Flat lines are right.`,
    xTitle: "seconds from the end of the window",
    yTitle: "time of a decision, ms",
    points: seconds.flatMap(({ x, p50, p99 }) => [
      { series: "p50", x, y: p50 },
      { series: "p99", x, y: p99 },
    ]),
    steps: true,
    edges: [0],
  });
}
