import { setTimeout as wait } from "node:timers/promises";
import type { Logger } from "pino";
import type { Caller } from "../accounts/caller.ts";
import type { AccountStore } from "../accounts/store.ts";
import { type Clock, timestamp } from "../infra/clock.ts";
import type { Decision } from "../limiter/decision.ts";
import { HOUR_MS, type Usage, type UsageStore } from "./store.ts";

interface Dependencies {
  readonly store: Pick<UsageStore, "write">;
  readonly accounts: Pick<AccountStore, "setLastUsed">;
  readonly log: Pick<Logger, "warn">;
  readonly clock: Clock;
  /** Unique to this process. */
  readonly writer: string;
  /** Time between two writes, in milliseconds. */
  readonly periodMs?: number;
}

/** Less than a minute, because the write takes time too. */
const PERIOD_MS = 50_000;
/** Accounts and surfaces that `mostRefused` returns. */
const MAX_SHOWN = 20;

type Count = Usage & { isWritten: boolean };

/**
 * Counts what each key uses and is refused in each hour, and notes when it was last used: in memory, and within a minute in
 * the stores. A process that is killed loses its last minute. No request waits for a write, and none fails because of one.
 *
 * Each process writes the totals that it counted itself, to documents of its own. So a write whose outcome is unknown can
 * be repeated. It remembers the hours that are not written, the current one and the one before: about 300 bytes for each
 * hour, key and surface.
 */
export class UsageCounter {
  readonly #options: Required<Dependencies>;
  readonly #counts = new Map<string, Count>();
  /** Time of each key's last use, if it is not stored yet. In milliseconds since the epoch. */
  #uses = new Map<string, number>();
  #writing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: Dependencies) {
    this.#options = { periodMs: PERIOD_MS, ...options };
  }

  /** Starts the writes. The first one comes after a random part of the period, so that replicas do not all write at once. */
  start(): void {
    const { periodMs } = this.#options;
    const first = () => {
      this.#timer = setInterval(() => void this.#write(), periodMs).unref();
      void this.#write();
    };
    this.#timer = setTimeout(first, periodMs * Math.random()).unref();
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

  /** Counts a request in the hour in which it was decided, by Redis's clock. */
  count(
    { accountId: account, keyId: key_id }: Caller,
    { verdict, surface, window, windowSeconds, resetMs }: Decision,
  ): void {
    const isRefused = verdict === "account_exhausted" || verdict === "key_exhausted";
    if (!isRefused && verdict !== "admitted" && verdict !== "granted") return; // the key itself is refused
    const hour = Math.floor(((window + 1) * windowSeconds * 1000 - resetMs) / HOUR_MS);
    const name = `${key_id} ${surface} ${hour}`;
    let count = this.#counts.get(name);
    if (count === undefined) {
      count = { account, hour, surface, key_id, used: 0, refused: 0, isWritten: false };
      this.#counts.set(name, count);
    }
    count[isRefused ? "refused" : "used"]++;
    count.isWritten = false;
  }

  /** Returns the accounts and surfaces with the most refusals in the current hour, at most 20. */
  mostRefused(): { account: string; surface: string; requests: number }[] {
    const now = this.#hour();
    const refused = new Map<string, { account: string; surface: string; requests: number }>();
    for (const { account, surface, hour, refused: requests } of this.#counts.values()) {
      if (hour !== now || requests === 0) continue;
      const name = `${account} ${surface}`;
      refused.set(name, { account, surface, requests: requests + (refused.get(name)?.requests ?? 0) });
    }
    return [...refused.values()].toSorted((one, other) => other.requests - one.requests).slice(0, MAX_SHOWN);
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
    const changed = [...this.#counts.values()].filter(({ isWritten }) => !isWritten);
    for (const count of changed) count.isWritten = true; // until the next request, also during the write
    try {
      await store.write(changed, writer);
    } catch (error) {
      for (const count of changed) count.isWritten = false;
      const text = "usage could not be written, and will be with the next minute's";
      log.warn({ err: error, counts: changed.length }, text);
    }
    const oldest = this.#hour() - 1;
    for (const [name, { hour, isWritten }] of this.#counts) if (isWritten && hour < oldest) this.#counts.delete(name);
  }

  #hour(): number {
    return Math.floor(this.#options.clock.now() / HOUR_MS);
  }
}
