import { setTimeout } from "node:timers/promises";
import { type Clock, timestamp } from "../infra/clock.ts";
import type { AuditQuery, AuditStore } from "./store.ts";

interface Following {
  readonly store: Pick<AuditStore, "entries">;
  readonly clock: Clock;
  /** Maximum time until an entry appears, in milliseconds: STORE_TIMEOUT_MS, and the maximum clock skew. */
  readonly lagMs: number;
}

const POLL_MS = 1_000;

/**
 * Yields entries, oldest first, up to now or to before `until`, or on and on until the signal. Yields none while an earlier one may still
 * appear, and waits for that at its end: who goes on after the last one misses none.
 */
export async function* settledEntries({ store, clock, lagMs }: Following, query: AuditQuery, signal?: AbortSignal) {
  const now = timestamp(clock.now());
  const last = query.until !== undefined && query.until < now ? query.until : now;
  let { after } = query;
  for (let isAtEnd = false; !isAtEnd && signal?.aborted !== true;) {
    const settled = timestamp(clock.now() - lagMs);
    isAtEnd = signal === undefined && settled >= last;
    for await (const entry of store.entries({ ...query, after, until: isAtEnd ? last : settled }))
      yield (after = entry);
    if (!isAtEnd) await setTimeout(POLL_MS, undefined, signal && { signal }).catch(() => undefined);
  }
}
