import { setTimeout as wait } from "node:timers/promises";
import type { Logger } from "pino";
import type { Metrics } from "../infra/metrics.ts";
import type { Lease, LeaseStore } from "./lease-store.ts";
import type { Sweep } from "./sweep.ts";

/** Maximum time that a replica that dies during a pass blocks the others, in milliseconds. */
const LEASE_MS = 15_000;
/** Pause between the end of one pass and the next, in milliseconds. */
const REST_MS = 20_000;
/** Maximum wait for the running pass to stop, in milliseconds. A pass that is cut off then does no harm. */
export const STOP_WITHIN_MS = 5_000;

/** Times are milliseconds. */
export interface SweepRunnerOptions {
  /** The name of the lease. Runners of one name take turns. */
  name: string;
  sweeps: readonly Sweep[];
  leases: LeaseStore;
  log: Pick<Logger, "debug" | "info" | "warn">;
  metrics: Metrics;
  /** `signal` is aborted while nothing may be swept. */
  restore: { readonly signal: AbortSignal };
  leaseMs?: number;
  restMs?: number;
  stopWithinMs?: number;
}

/**
 * Runs the sweeps again and again, on one replica at a time. A pass runs under a lease, which is extended during the work.
 * After the pass the lease stays taken for the pause; then any replica can take it.
 */
export class SweepRunner {
  readonly #options: Required<SweepRunnerOptions>;
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;

  constructor(options: SweepRunnerOptions) {
    this.#options = { leaseMs: LEASE_MS, restMs: REST_MS, stopWithinMs: STOP_WITHIN_MS, ...options };
    // Counters that exist from the start let an alert see a sweep that never runs.
    for (const outcome of ["ok", "failed"])
      for (const { name } of options.sweeps) options.metrics.sweepRuns.inc({ sweep: name, outcome }, 0);
  }

  /** The first pass runs at once if the lease is free. */
  start(): void {
    this.#running ??= this.#loop(this.#stopping.signal);
  }

  /** Stops the running pass and waits for it, at most `stopWithinMs`. Never fails. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.race([this.#running, wait(this.#options.stopWithinMs, undefined, { ref: false })]);
  }

  async #loop(stopping: AbortSignal): Promise<void> {
    const { leases, name, leaseMs, restMs, log } = this.#options;
    do {
      try {
        const lease = await leases.take(name, leaseMs, Math.max(leaseMs, restMs));
        if (lease !== undefined) await this.#pass(lease, stopping);
      } catch (error) {
        log.warn({ err: error }, "could not take or extend the sweep lease");
      }
      // The wait is random, so that waiting replicas do not all ask at once.
    } while (await pause((leaseMs / 3) * (0.5 + Math.random()), stopping));
  }

  async #pass(lease: Lease, stopping: AbortSignal): Promise<void> {
    const { sweeps, leases, restMs, restore } = this.#options;
    const lost = new AbortController();
    const done = new AbortController();
    const renewing = this.#renew(lease, lost, done.signal);
    const stop = AbortSignal.any([stopping, restore.signal, lost.signal]);
    for (const sweep of sweeps) if (!stop.aborted) await this.#sweep(sweep, lease, stop);
    done.abort();
    await renewing;
    if (!lost.signal.aborted) await leases.extend(lease, stopping.aborted ? 0 : restMs);
  }

  /** Extends the lease until the work is done. If that fails for too long, stops the work before the lease expires. */
  async #renew(lease: Lease, lost: AbortController, done: AbortSignal): Promise<void> {
    const { leases, leaseMs } = this.#options;
    const givingUp = setTimeout(() => lost.abort(), (leaseMs * 2) / 3);
    while (await pause(leaseMs / 3, done)) {
      const extended = await leases.extend(lease, leaseMs).catch(() => false);
      if (extended) givingUp.refresh();
    }
    clearTimeout(givingUp);
  }

  /** Runs one sweep. A failure is only logged: the next pass repeats the work. */
  async #sweep(sweep: Sweep, { term }: Lease, stop: AbortSignal): Promise<void> {
    const { metrics, log } = this.#options;
    const { name } = sweep;
    const started = performance.now();
    try {
      const count = await sweep.run(stop);
      metrics.sweepRuns.inc({ sweep: name, outcome: "ok" });
      metrics.sweepItems.inc({ sweep: name }, count);
      metrics.sweepSuccess.set({ sweep: name }, Date.now() / 1000);
      const ms = Math.round(performance.now() - started);
      log[count > 0 ? "info" : "debug"]({ sweep: name, term, count, ms }, "swept");
    } catch (error) {
      metrics.sweepRuns.inc({ sweep: name, outcome: "failed" });
      log.warn({ sweep: name, term, err: error }, "sweep failed");
    }
  }
}

/** Waits. Returns false if the signal was aborted first. */
function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  return wait(ms, true, { signal }).catch(() => false);
}
