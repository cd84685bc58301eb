import { expect } from "chai";
import { expectReadable, useObserved } from "../support/observed.ts";

/** An hour takes 40 s. The sweeps run every 20 to 28 s. */
const TIMES = 90;
const DAY_MS = 86_400_000;
/** Sooner than an unchanged lease counts as free. */
const RENEW_EVERY_MS = 5_000;

describe("the alerts while the lease of the sweeps", () => {
  const { service, prometheus } = useObserved(undefined, TIMES);
  let renewing: NodeJS.Timeout | undefined;
  after(() => clearInterval(renewing));

  it("is free: none", async () => {
    await prometheus.until("count(sweep_last_success_timestamp_seconds) == 9");
    expect(await prometheus.firingNow()).to.deep.equal([]);
  });

  it("is renewed by a process that does not sweep: sweeps stalled", async () => {
    const leases = service.operators.mongo.db.collection<{ _id: string }>("leases");
    const take = () =>
      leases.updateOne(
        { _id: "sweeps" },
        { $set: { until: Date.now() + DAY_MS, holder: "a process that does not sweep" }, $inc: { term: 1 } },
      );
    expect((await take()).modifiedCount).to.equal(1);
    renewing = setInterval(() => void take(), RENEW_EVERY_MS);
    expectReadable(await prometheus.firing("OnboardingSweepsStalled"));
    clearInterval(renewing);
    // src/docs/alerts.md tells operators to do this.
    await leases.deleteOne({ _id: "sweeps" });
    await prometheus.quiet("OnboardingSweepsStalled");
  });
});

describe("the alert of damaged records", () => {
  const { service, prometheus } = useObserved();

  it("fires while there is one, and ends when it is repaired", async () => {
    const { client } = await service.account();
    const { id, created_at } = (await client.post("/candidates", {})).body;
    const candidates = service.operators.mongo.db.collection<{ _id: string }>("candidates");
    await candidates.updateOne({ _id: id }, { $set: { created_at: "yesterday" } });
    expect((await client.get(`/candidates/${id}`)).status).to.equal(500);
    expectReadable(await prometheus.firing("OnboardingRecordUnreadable"));
    // src/docs/alerts.md tells operators to do this.
    const change = `${String(Date.now()).padStart(15, "0")}.${id}`;
    await candidates.updateOne({ _id: id }, { $set: { created_at, change }, $inc: { version: 1 } });
    expect((await client.get(`/candidates/${id}`)).status).to.equal(200);
    await prometheus.quiet("OnboardingRecordUnreadable");
    const { data } = (await client.get("/candidates")).body;
    expect(data).to.have.length(1);
    expect(data[0]).to.include({ id, version: 2 });
  });
});
