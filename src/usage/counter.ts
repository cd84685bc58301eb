import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import type { Caller } from "../accounts/caller.ts";
import { PeriodicWrite } from "../infra/periodic-write.ts";
import type { Decision } from "../limiter/decision.ts";
import type { Surface } from "../limiter/surfaces.ts";
import type { Usage, UsageStore } from "./store.ts";

interface Dependencies {
  readonly store: Pick<UsageStore, "write">;
  readonly log: Pick<Logger, "warn">;
  /** Unique to this process. */
  readonly writer: string;
  /** For tests. */
  readonly maxCounts?: number;
}

/** Less than a minute, because the write takes time too. */
const PERIOD_MS = 50_000;
/** Periods without a request after which a count leaves the memory: more than an hour, which is over by then. */
const MAX_IDLE = 75;
/** Counts to remember: keys, surfaces and hours. One takes about 300 bytes. Above half of them, those that are written go. */
const MAX_COUNTS = 100_000;
/** Counts in a command. One takes about 100 bytes. */
const COUNTS_AT_ONCE = 1_000;
/** Accounts and surfaces of which the refusals of the window are known, and of these, how many are shown. */
const MAX_REFUSED = 1_000;
const MAX_SHOWN = 20;

export const HOUR_MS = 3_600_000;

interface Count extends Usage {
  readonly writer: string;
  used: number;
  refused: number;
  /** Requests that the store knows of. */
  written: number;
  /** Periods since the last request. */
  idle: number;
}

interface Refused {
  readonly account: string;
  readonly surface: Surface;
  readonly window: number;
  /** By `performance.now()`. */
  readonly endsAt: number;
  requests: number;
}

/**
 * Counts what each key uses and is refused in each hour: in memory, and within a minute in the store. A process that is
 * killed loses its last minute. No request waits for a write, and none fails because of one.
 *
 * Each process writes the totals that it counted itself, to documents of its own. So a write whose outcome is unknown can
 * be repeated. A count that has left the memory must not begin again at zero in the same document: if that would happen,
 * the process goes on under another name.
 */
export class UsageCounter {
  readonly #options: Required<Dependencies>;
  readonly #counts = new Map<string, Count>();
  readonly #refused = new LRUCache<string, Refused>({ max: MAX_REFUSED });
  /** Number of names that this process has had, and the latest hour of which a count may have been written and left. */
  #names = 0;
  #leftUntil = -Infinity;
  /** Requests that found no room since the last write. */
  #lost = 0;
  readonly #writes: PeriodicWrite;

  constructor(options: Dependencies) {
    this.#options = { maxCounts: MAX_COUNTS, ...options };
    this.#writes = new PeriodicWrite(PERIOD_MS, () => this.#write());
  }

  start(): void {
    this.#writes.start();
  }

  /** Stops the writes. Writes what is counted, and waits for it at most `withinMs` milliseconds. Never fails. */
  stop(withinMs: number): Promise<void> {
    return this.#writes.stop(withinMs);
  }

  /** Counts a request in the hour of its window: the one in which it was decided, by Redis's clock. */
  count({ accountId, keyId }: Caller, decision: Decision): void {
    const { verdict, surface, window, windowSeconds, resetMs } = decision;
    const isRefused = verdict === "account_exhausted" || verdict === "key_exhausted";
    if (!isRefused && verdict !== "admitted" && verdict !== "granted") return; // the key itself is refused
    if (isRefused) this.#noteRefused(accountId, decision);
    const hour = Math.floor(((window + 1) * windowSeconds * 1000 - resetMs) / HOUR_MS);
    const name = `${accountId} ${keyId} ${surface} ${hour}`;
    const count = this.#counts.get(name) ?? this.#add(name, { account: accountId, keyId, surface, hour });
    if (count === undefined) this.#lost++;
    else if (isRefused) count.refused++;
    else count.used++;
  }

  /** Returns the accounts and surfaces with the most refusals in the current window, at most 20. */
  mostRefused(): Pick<Refused, "account" | "surface" | "requests">[] {
    const now = performance.now();
    const current = [...this.#refused.values()].filter(({ endsAt }) => endsAt > now);
    return current.toSorted((one, other) => other.requests - one.requests).slice(0, MAX_SHOWN);
  }

  #noteRefused(account: string, { surface, window, resetMs }: Decision): void {
    const name = `${account} ${surface}`;
    const known = this.#refused.get(name);
    if (known?.window === window) known.requests++;
    else this.#refused.set(name, { account, surface, window, endsAt: performance.now() + resetMs, requests: 1 });
  }

  #add(name: string, of: Pick<Usage, "account" | "keyId" | "surface" | "hour">): Count | undefined {
    if (this.#counts.size >= this.#options.maxCounts) return undefined;
    if (of.hour <= this.#leftUntil) {
      this.#names++;
      this.#leftUntil = -Infinity;
    }
    const count = { ...of, writer: `${this.#options.writer}-${this.#names}`, used: 0, refused: 0, written: 0, idle: 0 };
    this.#counts.set(name, count);
    return count;
  }

  async #write(): Promise<void> {
    const { store, log, maxCounts } = this.#options;
    const changed: Count[] = [];
    for (const count of this.#counts.values()) {
      if (isWritten(count)) count.idle++;
      else changed.push(count);
    }
    try {
      for (let first = 0; first < changed.length; first += COUNTS_AT_ONCE) {
        const batch = changed.slice(first, first + COUNTS_AT_ONCE);
        const totals = batch.map((count) => ({ ...count })); // requests are counted while it is written
        await store.write(totals);
        batch.forEach((count, index) => Object.assign(count, { written: totalOf(totals[index]!), idle: 0 }));
      }
    } catch (error) {
      log.warn(
        { err: error, counts: changed.length },
        "usage could not be written, and will be with the next minute's",
      );
    }
    const isFull = this.#counts.size > maxCounts / 2;
    for (const [name, count] of this.#counts) {
      if (!isWritten(count) || (!isFull && count.idle <= MAX_IDLE)) continue;
      this.#counts.delete(name);
      this.#leftUntil = Math.max(this.#leftUntil, count.hour);
    }
    if (this.#lost > 0)
      log.warn({ requests: this.#lost }, "usage of requests was not counted: too many keys in an hour");
    this.#lost = 0;
  }
}

function totalOf({ used, refused }: Usage): number {
  return used + refused;
}

function isWritten(count: Count): boolean {
  return count.written === totalOf(count);
}
