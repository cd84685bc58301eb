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
    this.#uses.set(keyId, this.#options.clock.now());
  }

  protected async write(): Promise<void> {
    if (this.#uses.size === 0) return;
    const uses = this.#uses;
    this.#uses = new Map();
    try {
      await this.#options.store.setLastUsed(new Map([...uses].map(([keyId, at]) => [keyId, timestamp(at)])));
    } catch {
      this.#uses = new Map([...uses, ...this.#uses]); // for the next write; a later use replaces an earlier one
    }
  }
}
