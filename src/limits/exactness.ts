import { Gauge } from "prom-client";
import { BoundedCollection } from "../infra/bounded-collection.ts";
import type { Clock } from "../infra/clock.ts";
import type { Metrics } from "../infra/metrics.ts";
import type { Mongo } from "../infra/mongo.ts";

/** Time for which a result is exported, in milliseconds. The probe runs every hour. */
const CURRENT_MS = 2 * 3_600_000;
export const PROBE = { _id: "exactness" } as const;

/** What `admin limits probe` keeps: its account, and what it last found. */
interface Probe {
  readonly _id: "exactness";
  readonly account: string;
  /** 1 if the limits were exact, 0 if not, null if it could not tell. */
  readonly exact: number | null;
  /** In milliseconds since the epoch. */
  readonly checked_at: number;
}

/** The collection `meta`, which holds the probe. */
export const probesIn = (mongo: Mongo) => new BoundedCollection<Probe>(mongo, "meta");

/** Exports the probe's last result. A scrape shows what the one before it asked for: it must not wait for MongoDB. */
export function exportExactness(mongo: Mongo, clock: Clock, { registry }: Metrics): void {
  const probes = probesIn(mongo);
  let last: Probe | null = null;
  const gauge: Gauge = new Gauge({
    registers: [registry],
    name: "onboarding_limits_exact",
    help: "1 if `admin limits probe` last found the limits exact, 0 if not. No sample if it could not tell, or not for two hours.",
    aggregator: "max",
    collect() {
      const reading = probes.findOne(PROBE).then((found) => (last = found));
      reading.catch(() => undefined);
      gauge.remove();
      if (last !== null && last.exact !== null && clock.now() - last.checked_at < CURRENT_MS) gauge.set(last.exact);
    },
  });
}
