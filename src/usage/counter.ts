import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import type { Caller } from "../accounts/caller.ts";
import { PeriodicWrite } from "../infra/periodic-write.ts";
import type { Decision } from "../limiter/decision.ts";
import type { Usage, UsageStore } from "./store.ts";
import { HOUR_MS, type Sum } from "./sum.ts";

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
/** Counts to remember: keys, surfaces and hours. One takes about 300 bytes. */
const MAX_COUNTS = 100_000;
/** Counts in a command. One takes about 100 bytes. */
const COUNTS_AT_ONCE = 1_000;
/** Accounts and surfaces of which the refusals of the window are known, and of these, how many are shown. */
const MAX_REFUSED = 1_000;
const MAX_SHOWN = 20;

interface Count extends Usage {
  readonly writer: string;
  used: number;
  refused: number;
  /** Requests that the store knows of. */
  written: number;
}

/**
 * Counts what each key uses and is refused in each hour: in memory, and within a minute in the store. A process that is
 * killed loses its last minute. No request waits for a write, and none fails because of one.
 *
 * Each process writes the totals that it counted itself, to documents of its own. So a write whose outcome is unknown can
 * be repeated. Once half of the memory is taken, all counts begin again at zero, in documents with another name.
 */
export class UsageCounter extends PeriodicWrite {
  readonly #options: Required<Dependencies>;
  #counts = new Map<string, Count>();
  /** Counts under earlier names that are not written yet. */
  #left: Count[] = [];
  /** Number of names that this process has had. */
  #names = 0;
  /** Requests of the current window, by account and surface. */
  readonly #refused = new LRUCache<string, number>({ max: MAX_REFUSED });
  /** Requests that found no room since the last write. */
  #lost = 0;

  constructor(options: Dependencies) {
    super(PERIOD_MS);
    this.#options = { maxCounts: MAX_COUNTS, ...options };
  }

  /** Counts a request in the hour of its window: the one in which it was decided, by Redis's clock. */
  count({ accountId, keyId }: Caller, { verdict, surface, window, windowSeconds, resetMs }: Decision): void {
    const isRefused = verdict === "account_exhausted" || verdict === "key_exhausted";
    if (!isRefused && verdict !== "admitted" && verdict !== "granted") return; // the key itself is refused
    if (isRefused) {
      const name = `${accountId} ${surface} ${window}`;
      this.#refused.set(name, 1 + (this.#refused.get(name) ?? 0), { ttl: resetMs });
    }
    const hour = Math.floor(((window + 1) * windowSeconds * 1000 - resetMs) / HOUR_MS);
    const name = `${keyId} ${surface} ${hour}`;
    const count = this.#counts.get(name) ?? this.#add(name, { account: accountId, keyId, surface, hour });
    if (count === undefined) this.#lost++;
    else if (isRefused) count.refused++;
    else count.used++;
  }

  /** Returns the accounts and surfaces with the most refusals in the current window, at most 20. */
  mostRefused(): { account: string; surface: string; requests: number }[] {
    const most = [...this.#refused.entries()].toSorted(([, one], [, other]) => other - one).slice(0, MAX_SHOWN);
    return most.map(([name, requests]) => {
      const [account = "", surface = ""] = name.split(" ");
      return { account, surface, requests };
    });
  }

  #add(name: string, of: Pick<Usage, "account" | "keyId" | "surface" | "hour">): Count | undefined {
    if (this.#counts.size + this.#left.length >= this.#options.maxCounts) return undefined;
    const count = { ...of, writer: `${this.#options.writer}-${this.#names}`, used: 0, refused: 0, written: 0 };
    this.#counts.set(name, count);
    return count;
  }

  protected async write(): Promise<void> {
    const { store, log, maxCounts } = this.#options;
    if (this.#left.length === 0 && this.#counts.size >= maxCounts / 2) {
      this.#left = [...this.#counts.values()];
      this.#counts = new Map();
      this.#names++;
    }
    const changed = [...this.#left, ...this.#counts.values()].filter((count) => count.written < totalOf(count));
    try {
      for (let first = 0; first < changed.length; first += COUNTS_AT_ONCE) {
        const batch = changed.slice(first, first + COUNTS_AT_ONCE);
        const totals = batch.map((count) => ({ ...count })); // requests are counted while it is written
        await store.write(totals);
        batch.forEach((count, index) => (count.written = totalOf(totals[index]!)));
      }
      this.#left = [];
    } catch (error) {
      log.warn(
        { err: error, counts: changed.length },
        "usage could not be written, and will be with the next minute's",
      );
    }
    if (this.#lost > 0) log.warn({ requests: this.#lost }, "usage of requests was not counted: too many keys");
    this.#lost = 0;
  }
}

function totalOf({ used, refused }: Sum): number {
  return used + refused;
}
