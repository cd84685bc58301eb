import { LRUCache } from "lru-cache";
import { type Clock, timestamp } from "../infra/clock.ts";
import type { AccountStore } from "./store.ts";

interface Dependencies {
  readonly store: Pick<AccountStore, "setLastUsed">;
  readonly clock: Clock;
  /** A monotonic timer, in milliseconds from any start. */
  readonly timer?: { now(): number };
}

/** Minimum time between two writes for one key by one replica, in milliseconds. */
const MIN_INTERVAL_MS = 60_000;
const MAX_CACHED = 10_000;

/** Records when keys were last used, to the minute. It never delays a request and never makes one fail. */
export class LastUsed {
  readonly #store: Pick<AccountStore, "setLastUsed">;
  readonly #clock: Clock;
  readonly #timer: { now(): number };
  /** When each key was last written, by the timer. */
  readonly #written = new LRUCache<string, number>({ max: MAX_CACHED });

  constructor({ store, clock, timer = performance }: Dependencies) {
    this.#store = store;
    this.#clock = clock;
    this.#timer = timer;
  }

  /** Records that a request with this key was admitted. Only the first request in a minute writes, in the background. */
  note(keyId: string): void {
    const now = this.#timer.now();
    const written = this.#written.get(keyId);
    if (written !== undefined && now - written < MIN_INTERVAL_MS) return;
    this.#written.set(keyId, now);
    // A failed write is not retried; the next one follows in a minute.
    void this.#store.setLastUsed(keyId, timestamp(this.#clock.now())).catch(() => undefined);
  }
}
