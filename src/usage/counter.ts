import { setTimeout as wait } from "node:timers/promises";
import type { Logger } from "pino";
import type { Caller } from "../accounts/caller.ts";
import type { AccountStore } from "../accounts/store.ts";
import { type Clock, HOUR_MS, timestamp } from "../infra/clock.ts";
import type { Decision } from "../limiter/decision.ts";
import { sumBy, type Usage, type UsageStore } from "./store.ts";

interface Dependencies {
  readonly store: Pick<UsageStore, "write">;
  readonly accounts: Pick<AccountStore, "setLastUsed">;
  readonly log: Pick<Logger, "warn">;
  readonly clock: Clock;
  /** Unique to this process. */
  readonly writer: string;
}

/** Time between two writes, in milliseconds. Less than a minute, because the write takes time too. */
const PERIOD_MS = 50_000;
/** Accounts and surfaces that `mostRefused` returns. */
const MAX_SHOWN = 20;

/**
 * Counts what each key uses and is refused in each hour, and notes when it was last used: in memory, and within a minute in
 * the stores. A process that is killed loses its last minute. No request waits for a write, and none fails because of one.
 *
 * Each process writes the totals that it counted itself, to documents of its own. So a write whose outcome is unknown can
 * be repeated. It remembers the hours that are not written, the current one and the one before: about 300 bytes for each
 * hour, key and surface.
 */
export class UsageCounter {
  readonly #options: Dependencies;
  readonly #counts = new Map<string, Usage>();
  /** The counts that have changed since they were last written. */
  readonly #changed = new Set<Usage>();
  /** Time of each key's last use, if it is not stored yet. In milliseconds since the epoch. */
  #uses = new Map<string, number>();
  #writing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: Dependencies) {
    this.#options = options;
  }

  /** Starts the writes. The first one comes after a random part of the period, so that replicas do not all write at once. */
  start(): void {
    const first = () => {
      this.#timer = setInterval(() => void this.#write(), PERIOD_MS).unref();
      void this.#write();
    };
    this.#timer = setTimeout(first, PERIOD_MS * Math.random()).unref();
  }

  /** Stops the writes. Writes once more, and waits for it at most `withinMs` milliseconds. Never fails. */
  async stop(withinMs: number): Promise<void> {
    clearTimeout(this.#timer);
    const written = Promise.resolve(this.#writing).then(() => this.#write());
    await Promise.race([written, wait(withinMs, undefined, { ref: false })]);
  }

  /** Notes that a key is used now. */
  note(keyId: string): void {
    this.#uses.set(keyId, this.#options.clock.now());
  }

  /**
   * Counts a request in the hour in which it was decided, by Redis's clock.
   * @param cost what it was charged if it was admitted, in requests. A refusal counts as one.
   */
  count({ accountId: account, keyId: key_id }: Caller, decision: Decision, cost = 1): void {
    const { verdict, surface, window, windowSeconds, resetMs } = decision;
    const isRefused = verdict === "account_exhausted" || verdict === "key_exhausted";
    if (!isRefused && verdict !== "admitted" && verdict !== "granted") return; // the key itself is refused
    const hour = Math.floor(((window + 1) * windowSeconds * 1000 - resetMs) / HOUR_MS);
    const name = `${key_id} ${surface} ${hour}`;
    const count = this.#counts.get(name) ?? { account, hour, surface, key_id, used: 0, refused: 0 };
    if (isRefused) count.refused++;
    else count.used += cost;
    this.#counts.set(name, count);
    this.#changed.add(count);
  }

  /** Returns the accounts and surfaces with the most refusals in the current hour, at most 20. */
  mostRefused(): { account: string; surface: string; requests: number }[] {
    const now = this.#hour();
    const refusing = [...this.#counts.values()].filter(({ hour, refused }) => hour === now && refused > 0);
    const sums = sumBy(refusing, ({ account, surface }) => `${account} ${surface}`);
    const most = sums.toSorted((one, other) => other.refused - one.refused).slice(0, MAX_SHOWN);
    return most.map(({ account, surface, refused }) => ({ account, surface, requests: refused }));
  }

  /** Writes now. If a write is running, only waits for that one. */
  #write(): Promise<void> {
    const all = async () => void (await Promise.all([this.#writeUses(), this.#writeCounts()]));
    return (this.#writing ??= all().finally(() => (this.#writing = undefined)));
  }

  async #writeUses(): Promise<void> {
    if (this.#uses.size === 0) return;
    const uses = this.#uses;
    this.#uses = new Map();
    try {
      await this.#options.accounts.setLastUsed(new Map([...uses].map(([keyId, at]) => [keyId, timestamp(at)])));
    } catch {
      this.#uses = new Map([...uses, ...this.#uses]); // for the next write; a later use replaces an earlier one
    }
  }

  async #writeCounts(): Promise<void> {
    const { store, log, writer } = this.#options;
    const changed = [...this.#changed];
    this.#changed.clear(); // before the write: requests that come during it are for the next one
    try {
      await store.write(changed, writer);
    } catch (error) {
      for (const count of changed) this.#changed.add(count);
      log.warn({ err: error, counts: changed.length }, "usage could not be written; the next write has it");
    }
    const oldest = this.#hour() - 1;
    for (const [name, count] of this.#counts)
      if (count.hour < oldest && !this.#changed.has(count)) this.#counts.delete(name);
  }

  #hour(): number {
    return Math.floor(this.#options.clock.now() / HOUR_MS);
  }
}
