import { Metrics } from "../../src/infra/metrics.ts";
import { connectMongo } from "../../src/infra/mongo.ts";
import { LeaseStore } from "../../src/sweeps/lease-store.ts";
import { SweepRunner } from "../../src/sweeps/runner.ts";

/**
 * A process whose sweep sends "working" when it begins and never ends. The test kills it in the middle of the pass.
 * Arguments: the MongoDB URL and the lease time in milliseconds.
 */
const [url = "", leaseMs] = process.argv.slice(2);
const mongo = await connectMongo({ url, timeoutMs: 5_000 });
const ignore = () => undefined;
new SweepRunner({
  name: "sweeps",
  sweeps: [
    {
      name: "endless",
      run: () => {
        process.send?.("working");
        return new Promise(() => undefined);
      },
    },
  ],
  leases: new LeaseStore({ mongo, clock: { now: () => Date.now() }, holder: "doomed", skewMs: 0 }),
  log: { debug: ignore, info: ignore, warn: ignore },
  metrics: new Metrics(),
  restore: new AbortController(),
  leaseMs: Number(leaseMs),
}).start();
