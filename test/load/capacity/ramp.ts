import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import { setTimeout } from "node:timers/promises";
import type { Outcome } from "../lib/host.ts";
import type { Capacity, Loaded } from "./config.ts";
import type { Crew } from "./crew.ts";

/** What one step of the ramp saw. Times are in milliseconds. */
export interface Step {
  /** Requests a second that were to be sent. */
  readonly rate: number;
  readonly sent: number;
  readonly failed: number;
  /** Requests with 429: the test's own accounts were used up. */
  readonly refused: number;
  readonly p50: number;
  readonly p99: number;
  /** p99 of how late the generator sent its requests. */
  readonly late: number;
  /** Share of the time in which the generator's event loop was busy. */
  readonly busy: number;
  /** The first thing that was wrong with a response. */
  readonly fault: string | undefined;
}

/** Maximum utilization of the generator's event loop. Above it, the generator is the bottleneck. */
const BUSY = 0.85;
/** Maximum number of open requests. With more, the service is far behind. */
const MAX_OPEN = 5_000;

/**
 * Returns true if the generator is the bottleneck: its event loop was busy, or p99 is within the bound once its delay is
 * subtracted. The delay is subtracted twice, because a late generator both sends late and reads late.
 */
export function isGeneratorLate({ p99, late, busy }: Step, { p99_ms }: Capacity): boolean {
  return busy > BUSY || p99 - 2 * late <= p99_ms;
}

/** Returns how many requests of each surface a step sends. */
export function needsOf({ mix, step_seconds }: Capacity, rate: number): Record<Loaded, number> {
  const total = Object.values(mix).reduce((sum, part) => sum + part, 0);
  const needs = Object.entries(mix).map(([surface, part]) => [
    surface,
    Math.ceil((rate * step_seconds * part) / total),
  ]);
  return Object.fromEntries(needs) as Record<Loaded, number>;
}

/**
 * Sends requests at a fixed rate, and waits for no response before the next one, as independent clients do. A request is
 * timed from when it was due, so a late generator does not make the service look fast.
 */
export async function runStep(capacity: Capacity, crew: Crew, rate: number, signal: AbortSignal): Promise<Step> {
  const plan = shuffled(needsOf(capacity, rate)).slice(0, Math.ceil(rate * capacity.step_seconds));
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  const before = performance.eventLoopUtilization();
  const seen: { ms: number; late: number; outcome: Outcome }[] = [];
  const open = new Set<Promise<void>>();
  const started = performance.now();
  let refused = 0;
  for (const [n, surface] of plan.entries()) {
    const due = started + (n * 1000) / rate;
    while (performance.now() < due && !signal.aborted) await setTimeout(Math.max(1, due - performance.now()));
    if (signal.aborted || open.size >= MAX_OPEN) break;
    const late = performance.now() - due;
    const sending = crew.next(surface);
    if (sending === undefined) {
      refused++;
      continue;
    }
    const request: Promise<void> = sending.then((outcome) => {
      seen.push({ ms: performance.now() - due, late, outcome });
      open.delete(request);
    });
    open.add(request);
  }
  await Promise.all(open);
  delay.disable();
  const isRefused = ({ outcome: { verdict } }: (typeof seen)[number]) => verdict === "account" || verdict === "key";
  const faults = seen.flatMap(({ outcome: { fault } }) => fault ?? []);
  return {
    rate,
    sent: seen.length,
    failed: faults.length,
    refused: refused + seen.filter(isRefused).length,
    p50: percentile(
      0.5,
      seen.map(({ ms }) => ms),
    ),
    p99: percentile(
      0.99,
      seen.map(({ ms }) => ms),
    ),
    // The event loop's delay also shows stalls while no request was due. Its resolution of 10 ms is not a stall.
    late: Math.max(
      percentile(
        0.99,
        seen.map(({ late }) => late),
      ),
      delay.percentile(99) / 1e6 - 10,
    ),
    busy: performance.eventLoopUtilization(before).utilization,
    fault: faults[0],
  };
}

function percentile(part: number, values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length * part) - 1] ?? 0;
}

function shuffled(needs: Record<Loaded, number>): Loaded[] {
  const all = Object.entries(needs).flatMap(([surface, count]) =>
    Array.from({ length: count }, () => surface as Loaded),
  );
  return all
    .map((surface) => ({ surface, at: Math.random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ surface }) => surface);
}
