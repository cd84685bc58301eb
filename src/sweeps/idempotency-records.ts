import { KEPT_MS } from "../idempotency/once.ts";
import type { IdempotencyStore } from "../idempotency/store.ts";
import type { Clock } from "../infra/clock.ts";
import type { Sweep } from "./sweep.ts";

/** Records of Idempotency-Keys go when their keys are good for nothing any more. */
export function idempotencyRecords(records: IdempotencyStore, clock: Clock): Sweep {
  return { name: "idempotency records", run: (signal) => records.removeOlderThan(clock.now() - KEPT_MS, signal) };
}
