import { setTimeout as wait } from "node:timers/promises";
import type { Logger } from "pino";
import type { Lease, LeaseStore } from "./lease-store.ts";
import type { Sweep } from "./sweep.ts";

const LEASE = "sweeps";
/** How long a replica that died in the middle of a pass keeps the others from it, in milliseconds. */
const LEASE_MS = 15_000;
/** From the end of one pass to the next, in milliseconds. */
const REST_MS = 20_000;
/** Longest wait for the running pass to stop, in milliseconds; what is cut off then does no harm. */
const STOP_WITHIN_MS = 5_000;

/** Times are milliseconds. */
export interface SweepRunnerOptions {
  sweeps: readonly Sweep[];
  leases: LeaseStore;
  log: Pick<Logger, "debug" | "info" | "warn">;
  leaseMs?: number;
  restMs?: number;
  stopWithinMs?: number;
}

/**
 * Passes over the sweeps, one replica at a time: a pass runs under a lease, extended while the work goes on. Afterwards the
 * lease runs on for the rest between two passes; then it is there for any replica. That of one that dies in mid-pass is so
 * within the lease time.
 */
export class SweepRunner {
  readonly #sweeps: readonly Sweep[];
  readonly #leases: LeaseStore;
  readonly #log: SweepRunnerOptions["log"];
  readonly #leaseMs: number;
  readonly #restMs: number;
  readonly #stopWithinMs: number;
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;

  constructor({
    sweeps,
    leases,
    log,
    leaseMs = LEASE_MS,
    restMs = REST_MS,
    stopWithinMs = STOP_WITHIN_MS,
  }: SweepRunnerOptions) {
    this.#sweeps = sweeps;
    this.#leases = leases;
    this.#log = log;
    this.#leaseMs = leaseMs;
    this.#restMs = restMs;
    this.#stopWithinMs = stopWithinMs;
  }

  /** Begins, with a pass at once where none is due elsewhere. */
  start(): void {
    this.#running ??= this.#turns(this.#stopping.signal);
  }

  /** Ends: the running pass is told, and waited for. It never fails, and takes 5 s at the most. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.race([this.#running, wait(this.#stopWithinMs, undefined, { ref: false })]);
  }

  async #turns(stopping: AbortSignal): Promise<void> {
    do {
      try {
        const lease = await this.#leases.take(LEASE, this.#leaseMs);
        if (lease !== undefined) await this.#pass(lease, stopping);
      } catch (error) {
        this.#log.warn({ err: error }, "the lease of the sweeps failed");
      }
      // Of several replicas that wait, not all should ask at once.
    } while (await pause((this.#leaseMs / 3) * (0.5 + Math.random()), stopping));
  }

  async #pass(lease: Lease, stopping: AbortSignal): Promise<void> {
    const lost = new AbortController();
    const done = new AbortController();
    const keeping = this.#keep(lease, lost, done.signal);
    const ending = AbortSignal.any([stopping, lost.signal]);
    for (const sweep of this.#sweeps) {
      if (!ending.aborted) await this.#sweep(sweep, lease, ending);
    }
    done.abort();
    await keeping;
    if (!lost.signal.aborted) await this.#leases.extend(lease, stopping.aborted ? 0 : this.#restMs);
  }

  /** Extends the lease until the work is done; where that fails for too long, the work is told to end before the time is up. */
  async #keep(lease: Lease, lost: AbortController, done: AbortSignal): Promise<void> {
    const givingUp = setTimeout(() => lost.abort(), (this.#leaseMs * 2) / 3);
    while (await pause(this.#leaseMs / 3, done)) {
      const kept = await this.#leases.extend(lease, this.#leaseMs).catch(() => false);
      if (kept) givingUp.refresh();
    }
    clearTimeout(givingUp);
  }

  /** One sweep; its failure is the log's, and the next pass's to make good. */
  async #sweep(sweep: Sweep, { term }: Lease, ending: AbortSignal): Promise<void> {
    const started = performance.now();
    try {
      const count = await sweep.run(ending);
      this.#log[count > 0 ? "info" : "debug"](
        { sweep: sweep.name, term, count, ms: Math.round(performance.now() - started) },
        "swept",
      );
    } catch (error) {
      this.#log.warn({ sweep: sweep.name, term, err: error }, "sweep failed");
    }
  }
}

/** Waits; false where the signal came first. */
function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  return wait(ms, true, { signal }).catch(() => false);
}
