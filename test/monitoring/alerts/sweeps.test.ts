import { expect } from "chai";
import { expectReadable, useObserved } from "../support/observed.ts";

/** An hour takes 40 s. The sweeps run every 20 to 28 s. */
const TIMES = 90;
const DAY_MS = 86_400_000;

describe("the alerts while the lease of the sweeps", () => {
  const { service, prometheus } = useObserved(undefined, TIMES);

  it("is free: none", async () => {
    await prometheus.until("count(sweep_last_success_timestamp_seconds) == 6");
    expect(await prometheus.firingNow()).to.deep.equal([]);
  });

  it("is taken for a day, as when the clock was a day ahead: sweeps stalled", async () => {
    const leases = service.operators.mongo.db.collection<{ _id: string }>("leases");
    const taken = await leases.updateOne(
      { _id: "sweeps" },
      { $set: { until: Date.now() + DAY_MS, holder: "a process whose clock was a day ahead" }, $inc: { term: 1 } },
    );
    expect(taken.modifiedCount).to.equal(1);
    expectReadable(await prometheus.firing("OnboardingSweepsStalled"));
    // src/docs/alerts.md tells operators to do this.
    await leases.deleteOne({ _id: "sweeps" });
    await prometheus.quiet("OnboardingSweepsStalled");
  });
});
