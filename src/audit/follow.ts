import { setTimeout } from "node:timers/promises";
import { type Clock, timestamp } from "../infra/clock.ts";
import { isStoreDown } from "../infra/mongo.ts";
import type { AuditRecord } from "./entry.ts";
import type { AuditQuery, AuditStore } from "./store.ts";

export interface Following {
  readonly store: Pick<AuditStore, "entries">;
  readonly clock: Clock;
  /** Maximum time until an entry appears, in milliseconds: STORE_TIMEOUT_MS, and the maximum clock skew. */
  readonly lagMs: number;
}

const POLL_MS = 1_000;

/**
 * Yields the entries up to now, or up to `until`, oldest first. Waits at the end until none of them can appear any more: who goes on
 * after the last one misses none.
 */
export async function* settledEntries({ store, clock, lagMs }: Following, query: AuditQuery) {
  const now = timestamp(clock.now());
  const end = query.until !== undefined && query.until < now ? query.until : now;
  for (let { after } = query, isSettled = false; !isSettled;) {
    const settled = timestamp(clock.now() - lagMs);
    isSettled = settled >= end;
    for await (const entry of store.entries({ ...query, after, until: isSettled ? end : settled }))
      yield (after = entry);
    if (!isSettled) await setTimeout(Math.max(1, Date.parse(end) + lagMs - clock.now()));
  }
}

/** Yields new entries as they appear, until the signal. Waits while the store does not respond. */
export async function* newEntries(
  { store, clock, lagMs }: Following,
  account: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<AuditRecord> {
  const begun = timestamp(clock.now());
  /** The time of each entry that a later poll may find again. */
  const yielded = new Map<string, string>();
  for (let since = begun; !signal.aborted;) {
    const next = timestamp(clock.now() - lagMs);
    try {
      for await (const entry of store.entries({ account, since })) {
        if (yielded.has(entry._id)) continue;
        yielded.set(entry._id, entry.at);
        yield entry;
      }
      if (next > begun) since = next;
      for (const [id, at] of yielded) if (at < since) yielded.delete(id);
    } catch (error) {
      if (!isStoreDown(error)) throw error;
    }
    await setTimeout(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
}
