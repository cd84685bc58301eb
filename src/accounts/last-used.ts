import { type Clock, timestamp } from "../infra/clock.ts";
import { PeriodicWrite } from "../infra/periodic-write.ts";
import type { AccountStore } from "./store.ts";

interface Dependencies {
  readonly store: Pick<AccountStore, "setLastUsed">;
  readonly clock: Clock;
  /** Time between two writes, in milliseconds. */
  readonly periodMs?: number;
}

const PERIOD_MS = 60_000;
/** Maximum number of keys to remember. While a write runs, as many again. */
const MAX_REMEMBERED = 10_000;

/**
 * Records when keys were last used: in memory, and once a minute in the store. So the stored time is up to a minute late, and
 * a process that is killed loses its last minute. No request waits for a write, and none fails because of one.
 */
export class LastUsed extends PeriodicWrite {
  readonly #options: Dependencies;
  /** Uses that are not written yet: milliseconds since the epoch, by key. */
  #uses = new Map<string, number>();

  constructor(dependencies: Dependencies) {
    super(dependencies.periodMs ?? PERIOD_MS);
    this.#options = dependencies;
  }

  note(keyId: string): void {
    const isNew = !this.#uses.has(keyId);
    // It is full only while a write runs, or after one failed. A key that is left out is noted at a later use.
    if (isNew && this.#uses.size >= MAX_REMEMBERED) return;
    this.#uses.set(keyId, this.#options.clock.now());
    if (isNew && this.#uses.size === MAX_REMEMBERED) void this.writeNow();
  }

  protected async write(): Promise<void> {
    if (this.#uses.size === 0) return;
    const uses = this.#uses;
    this.#uses = new Map();
    try {
      await this.#options.store.setLastUsed(new Map([...uses].map(([keyId, at]) => [keyId, timestamp(at)])));
    } catch {
      // Keep them for the next write, except those of keys that were used again.
      for (const [keyId, at] of uses)
        if (this.#uses.size < MAX_REMEMBERED && !this.#uses.has(keyId)) this.#uses.set(keyId, at);
    }
  }
}
