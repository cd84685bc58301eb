import { LRUCache } from "lru-cache";
import { type Clock, timestamp } from "../infra/clock.ts";
import type { AccountStore } from "./store.ts";

interface Dependencies {
  readonly store: Pick<AccountStore, "setLastUsed">;
  readonly clock: Clock;
  /** In milliseconds from any start. */
  readonly timer?: { now(): number };
}

/** A key's time is written at most so often by one replica, in milliseconds. */
const WRITTEN_EVERY_MS = 60_000;
const MAX_REMEMBERED = 10_000;

/** When keys were last used, to the minute. It never delays a request and never fails one. */
export class LastUsed {
  readonly #store: Pick<AccountStore, "setLastUsed">;
  readonly #clock: Clock;
  readonly #timer: { now(): number };
  /** When each key's time was last written, on the timer. */
  readonly #written = new LRUCache<string, number>({ max: MAX_REMEMBERED });

  constructor({ store, clock, timer = performance }: Dependencies) {
    this.#store = store;
    this.#clock = clock;
    this.#timer = timer;
  }

  /** Notes that a request with this key was admitted. The first in a minute is written, in the background. */
  note(keyId: string): void {
    const now = this.#timer.now();
    const written = this.#written.get(keyId);
    if (written !== undefined && now - written < WRITTEN_EVERY_MS) return;
    this.#written.set(keyId, now);
    // A store that is down is not asked again before the next minute.
    void this.#store.setLastUsed(keyId, timestamp(this.#clock.now())).catch(() => undefined);
  }
}
