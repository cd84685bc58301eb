import { KEPT_MS } from "../idempotency/once.ts";
import type { IdempotencyStore } from "../idempotency/store.ts";
import type { Clock } from "../infra/clock.ts";
import type { Sweep } from "./sweep.ts";

/** Removes the records of Idempotency-Keys that are no longer valid. */
export function idempotencyRecords(records: IdempotencyStore, clock: Clock): Sweep {
  return { name: "idempotency_records", run: (signal) => records.removeOlderThan(clock.now() - KEPT_MS, signal) };
}
