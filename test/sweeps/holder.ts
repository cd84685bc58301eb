import { connectMongo } from "../../src/infra/mongo.ts";
import { LeaseStore } from "../../src/sweeps/lease-store.ts";
import { SweepRunner } from "../../src/sweeps/runner.ts";

/** A process that gets into the middle of a pass, says so, and never comes out: to be killed. Arguments: MongoDB, lease in ms. */
const [url = "", leaseMs] = process.argv.slice(2);
const mongo = await connectMongo({ url, timeoutMs: 5_000 });
const quiet = () => undefined;
new SweepRunner({
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
  log: { debug: quiet, info: quiet, warn: quiet },
  leaseMs: Number(leaseMs),
}).start();
