import type { Clock } from "../infra/clock.ts";
import type { IdempotencyRecord, IdempotencyStore } from "./store.ts";

interface Options {
  readonly store: Pick<IdempotencyStore, "lease">;
  readonly clock: Clock;
  /** How long the lease blocks other attempts after its last renewal, in milliseconds. */
  readonly leaseMs: number;
}

/** The lease of an attempt that does the work of a record. It is renewed until it is left or released. */
export class Lease {
  readonly #options: Options;
  readonly #record: IdempotencyRecord;
  readonly #renewing: NodeJS.Timeout;
  /** The last end that the store has confirmed. */
  #until: number;

  constructor(record: IdempotencyRecord, options: Options) {
    this.#options = options;
    this.#record = record;
    this.#until = record.leaseUntil;
    this.#renewing = setInterval(() => void this.#setEnd(options.clock.now() + options.leaseMs), options.leaseMs / 3);
  }

  /**
   * Returns whether no other attempt can have begun, unless the outcome was forgotten. At least half of the lease must be
   * left: that is more than the clocks of two replicas may differ.
   */
  isSafe(): boolean {
    return this.#options.clock.now() <= this.#until - this.#options.leaseMs / 2;
  }

  /** Ends the renewals. The lease then expires by itself. */
  leave(): void {
    clearInterval(this.#renewing);
  }

  /** Lets another attempt begin at once. One round trip. Never fails. */
  async release(): Promise<void> {
    this.leave();
    await this.#setEnd(0);
  }

  /** Sets the end of the lease. If that fails, the old end stays: at worst a retry waits, or works in parallel. */
  async #setEnd(until: number): Promise<void> {
    const isOurs = await this.#options.store.lease(this.#record, until).catch(() => false);
    if (isOurs) this.#until = until;
  }
}
