import { Gauge } from "prom-client";
import { BoundedCollection } from "../infra/bounded-collection.ts";
import type { Clock } from "../infra/clock.ts";
import type { Metrics } from "../infra/metrics.ts";
import type { Mongo } from "../infra/mongo.ts";

/** Time for which a result is exported, in milliseconds. The probe runs every hour. */
const CURRENT_MS = 2 * 3_600_000;
/** Time after which the probe counts as removed, in milliseconds. Nothing then warns that it has no result. */
const REMOVED_MS = 3 * 86_400_000;

/** What `admin limits probe` keeps. Times are in milliseconds since the epoch. */
export interface Probe extends Record<string, unknown> {
  _id: "exactness";
  account: string;
  /** A part of what the secrets of its keys are made from. */
  salt: string;
  /** 1 if the last run found the limits exact, 0 if not, null if it could not tell. */
  exact: 0 | 1 | null;
  checked_at: number;
  /** When a run could last tell. At first, when the probe was made. */
  known_at: number;
}

/** The collection `meta`, which holds the probe. */
export const probesIn = (mongo: Mongo) => new BoundedCollection<Probe>(mongo, "meta");

/** Exports the probe's last result. A scrape shows what the one before it asked for: it must not wait for MongoDB. */
export function exportExactness(mongo: Mongo, clock: Clock, { registry }: Metrics): void {
  const probes = probesIn(mongo);
  let last: Probe | null = null;
  const gauge = (name: string, help: string, valueOf: (probe: Probe, ageMs: number) => number | null): void => {
    const made: Gauge = new Gauge({ registers: [registry], name, help, aggregator: "max", collect });
    function collect(): void {
      void probes.findOne({ _id: "exactness" }).then(
        (found) => (last = found),
        () => undefined,
      );
      made.remove();
      const value = last && valueOf(last, clock.now() - last.checked_at);
      if (value !== null) made.set(value);
    }
  };
  gauge(
    "onboarding_limits_exact",
    "1 if `admin limits probe` last found the limits exact, 0 if not. No sample if it could not tell, or not for two hours.",
    ({ exact }, ageMs) => (ageMs < CURRENT_MS ? exact : null),
  );
  gauge(
    "onboarding_limits_checked_timestamp_seconds",
    "When `admin limits probe` could last tell. No sample if it never ran, or not for three days.",
    ({ known_at }, ageMs) => (ageMs < REMOVED_MS ? known_at / 1000 : null),
  );
}
