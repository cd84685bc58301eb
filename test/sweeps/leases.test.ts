import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import type { Mongo } from "../../src/infra/mongo.ts";
import { LeaseStore } from "../../src/sweeps/lease-store.ts";
import { useDatabase } from "../support/use-service.ts";

const SKEW_MS = 2_000;

describe("a lease that another process may hold", () => {
  const mongo = useDatabase();
  let now = 0;
  const clock = { now: () => now };
  const leasesOf = (holder: string, through: Mongo = mongo) =>
    new LeaseStore({ mongo: through, clock, holder, skewMs: SKEW_MS });

  it("is respected until it has expired by any replica's clock", async () => {
    const [one, two] = [leasesOf("one"), leasesOf("two")];
    now = 10_000;
    expect(await one.take("expiry", 1_000)).to.include({ term: 1 });
    now = 11_000 + SKEW_MS - 1;
    expect(await two.take("expiry", 1_000)).to.equal(undefined);
    now++;
    expect(await two.take("expiry", 1_000)).to.include({ term: 2 });
    expect(await one.extend({ name: "expiry", term: 1 }, 1_000), "taken over").to.equal(false);
  });

  it("is free once nobody has changed it for as long as it can last, although its end lies in the future", async () => {
    const [ahead, two] = [leasesOf("a process whose clock was a day ahead"), leasesOf("two")];
    const LONGEST_MS = 100;
    now = 86_400_000;
    const lease = (await ahead.take("leapt", LONGEST_MS))!;
    now = 10_000;
    const seen = performance.now();
    const take = () => two.take("leapt", LONGEST_MS);
    expect(await take()).to.equal(undefined);
    await setTimeout(LONGEST_MS / 2);
    now = 86_400_000 + 1;
    await ahead.extend(lease, LONGEST_MS); // its holder lives
    now = 10_000;
    expect(await take()).to.equal(undefined);
    while ((await take()) === undefined) await setTimeout(5);
    expect(performance.now() - seen).to.be.within(1.5 * LONGEST_MS - 1, 5_000);
  });

  it("stays with the holder that extends it just before another process takes it", async () => {
    const one = leasesOf("one");
    now = 10_000;
    const lease = (await one.take("extended", 1_000))!;
    now = 11_000 + SKEW_MS;
    const { client, db } = mongo;
    const bounded: Mongo["bounded"] = async (name, operation) => {
      const result = await mongo.bounded(name, operation);
      if (name === "find leases") expect(await one.extend(lease, 1_000)).to.equal(true);
      return result;
    };
    const through: Mongo = { client, db, bounded, isLate: () => false, close: () => mongo.close() };
    expect(await leasesOf("two", through).take("extended", 1_000)).to.equal(undefined);
    expect(await one.extend(lease, 1_000)).to.equal(true);
  });

  it("is taken by one of two processes that find it free at the same time", async () => {
    const one = leasesOf("one");
    const { client, db } = mongo;
    const bounded: Mongo["bounded"] = async (name, operation) => {
      const result = await mongo.bounded(name, operation);
      if (name === "find leases") expect(await one.take("free", 1_000)).to.include({ term: 1 });
      return result;
    };
    const through: Mongo = { client, db, bounded, isLate: () => false, close: () => mongo.close() };
    expect(await leasesOf("two", through).take("free", 1_000)).to.equal(undefined);
  });

  it("is stored with its term, its end and its holder, who can prolong and release it", async () => {
    const [one, two] = [leasesOf("one"), leasesOf("two")];
    const stored = () => mongo.db.collection<{ _id: string }>("leases").findOne({ _id: "stored" });
    now = 10_000;
    const lease = (await one.take("stored", 1_000))!;
    expect(lease).to.deep.equal({ name: "stored", term: 1 });
    expect(await stored()).to.deep.equal({ _id: "stored", term: 1, until: 11_000, holder: "one" });
    now = 10_500;
    expect(await one.extend(lease, 2_000)).to.equal(true);
    expect(await stored()).to.deep.equal({ _id: "stored", term: 1, until: 12_500, holder: "one" });
    expect(await one.extend(lease, 0)).to.equal(true);
    now = 10_500 + SKEW_MS;
    expect(await two.take("stored", 1_000)).to.deep.equal({ name: "stored", term: 2 });
    expect(await stored()).to.deep.equal({ _id: "stored", term: 2, until: now + 1_000, holder: "two" });
    expect(await one.extend({ name: "none", term: 1 }, 1_000)).to.equal(false);
  });

  it("is not taken without a response of the store", async () => {
    const { client, db } = mongo;
    const fails =
      (operation: string): Mongo["bounded"] =>
      (name, run) =>
        name === operation ? Promise.reject(new Error("down")) : mongo.bounded(name, run);
    for (const operation of ["find leases", "insert leases"]) {
      const bounded = fails(operation);
      const through: Mongo = { client, db, bounded, isLate: () => false, close: () => mongo.close() };
      const failure = await leasesOf("one", through)
        .take("down", 1_000)
        .catch((error: Error) => error);
      expect(failure, operation).to.be.an("error").that.includes({ message: "down" });
    }
  });
});
