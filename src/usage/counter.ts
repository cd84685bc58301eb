import type { Logger } from "pino";
import type { Caller } from "../accounts/caller.ts";
import type { Clock } from "../infra/clock.ts";
import { PeriodicWrite } from "../infra/periodic-write.ts";
import type { Decision } from "../limiter/decision.ts";
import { HOUR_MS, type Usage, type UsageStore } from "./store.ts";

interface Dependencies {
  readonly store: Pick<UsageStore, "write">;
  readonly log: Pick<Logger, "warn">;
  /** Redis's clock. */
  readonly clock: Clock;
  /** Unique to this process. */
  readonly writer: string;
}

/** Less than a minute, because the write takes time too. */
const PERIOD_MS = 50_000;
/** Accounts and surfaces that `mostRefused` returns. */
const MAX_SHOWN = 20;

type Count = Usage & { isWritten: boolean };

/**
 * Counts what each key uses and is refused in each hour: in memory, and within a minute in the store. A process that is
 * killed loses its last minute. No request waits for a write, and none fails because of one.
 *
 * Each process writes the totals that it counted itself, to documents of its own. So a write whose outcome is unknown can
 * be repeated. It remembers the hours that are not written, the current one and the one before: about 300 bytes for each
 * hour, key and surface.
 */
export class UsageCounter extends PeriodicWrite {
  readonly #options: Dependencies;
  readonly #counts = new Map<string, Count>();

  constructor(options: Dependencies) {
    super(PERIOD_MS);
    this.#options = options;
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

  protected async write(): Promise<void> {
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
