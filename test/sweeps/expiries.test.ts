import { author } from "../support/records.ts";
import { expect } from "chai";
import { CandidateStore } from "../../src/candidates/store.ts";
import type { Mongo } from "../../src/infra/mongo.ts";
import { SharedClock } from "../../src/infra/clock.ts";
import { expiries } from "../../src/sweeps/sweep.ts";
import { useAccount, useOwnService } from "../support/use-service.ts";
import { candidateWithExpiry } from "./support.ts";

describe("the sweep of expiries", () => {
  const service = useOwnService();
  const account = useAccount(service);
  const { client } = account;
  let candidates: CandidateStore;
  // The dates are in the future, because the replica's own sweep would handle past dates first. The tests' sweep gets a
  // clock of its own.
  const lastMoment = Date.parse("2090-01-31T23:59:59.999Z");
  before(async () => {
    const { mongo } = service.operators;
    const clock = new SharedClock();
    candidates = new CandidateStore(mongo, clock);
  });

  const sweepAt = (now: number) => expiries(candidates.batches, { now: () => now }).run(new AbortController().signal);
  const stateOf = async (id: string) => {
    const { body } = await client.get(`/candidates/${id}`);
    return [body.state, ...body.documents.map(({ state }) => state)];
  };

  it("expires an accepted document once its day is over in UTC, and moves its candidate to the end of the feed", async () => {
    const { id } = await candidates.insert(candidateWithExpiry(account.id, "2090-01-31"), author());
    const other = await candidates.insert(candidateWithExpiry(account.id, "2090-02-01"), author());
    const before = (await client.get("/candidates")).body;
    expect(before.data.map((row) => row.id)).to.deep.equal([id, other.id]);

    expect(await sweepAt(lastMoment)).to.equal(0);
    expect(await stateOf(id)).to.deep.equal(["completed", "accepted"]);

    expect(await sweepAt(lastMoment + 1)).to.equal(1);
    expect(await stateOf(id)).to.deep.equal(["action_required", "expired"]);
    expect(await stateOf(other.id)).to.deep.equal(["completed", "accepted"]);
    const { data } = (await client.get("/candidates")).body;
    expect(
      data.map((row) => row.id),
      "moved to the end",
    ).to.deep.equal([other.id, id]);
    expect(data[1]).to.include({ version: 2, pack_version: 2 });
    expect(data[1]?.documents[0]?.updated_at).to.equal(data[1]?.updated_at);
    const by = { type: "service", id: "expiries" };
    expect(data[1]?.documents[0]?.decided).to.deep.include({ state: "expired", at: data[1]?.updated_at, by });
    expect((await client.get("/candidates?state=action_required")).body.data).to.have.length(1);

    expect(await sweepAt(lastMoment + 1), "done once").to.equal(0);
  });

  it("expires the documents of a withdrawn candidate too", async () => {
    const { id } = await candidates.insert(
      candidateWithExpiry(account.id, "2090-01-30", { withdrawn: true }),
      author(),
    );
    expect(await sweepAt(lastMoment)).to.equal(1);
    expect(await stateOf(id)).to.deep.equal(["withdrawn", "expired"]);
  });

  it("takes one read and one write for each hundred candidates", async () => {
    const names: string[] = [];
    const { mongo } = service.operators;
    const counting: Mongo = {
      ...mongo,
      bounded: (name, operation) => {
        names.push(name);
        return mongo.bounded(name, operation);
      },
    };
    const clock = new SharedClock();
    const due = Array.from({ length: 150 }, () => candidateWithExpiry(account.id, "2090-01-29"));
    await Promise.all(due.map((draft) => candidates.insert(draft, author())));
    const store = new CandidateStore(counting, clock);
    const sweep = expiries(store.batches, { now: () => Date.parse("2090-01-30T00:00:00Z") });
    expect(await sweep.run(new AbortController().signal)).to.equal(due.length);
    const [read, write] = ["find candidates", "update candidates"];
    expect(names).to.deep.equal([read, write, read, write, read]);
  });

  it("reads candidates of at most 256 KiB at once, but at least one", async () => {
    const stored = service.operators.mongo.db.collection("candidates");
    const read = async () => (await candidates.reader.expiring("2090-01-27", 100)).length;
    for (const [size, rows] of [
      [128 * 1024, 2],
      [128 * 1024 + 1, 1],
      [300 * 1024, 1],
    ] as const) {
      const due = Array.from({ length: 3 }, () => candidateWithExpiry(account.id, "2090-01-26"));
      for (const draft of due) await candidates.insert(draft, author());
      await stored.updateMany({ account: account.id, next_expiry: "2090-01-26" }, { $set: { size } });
      expect(await read(), `${size} bytes each`).to.equal(rows);
      expect(await sweepAt(Date.parse("2090-01-27T00:00:00Z"))).to.equal(3);
    }
  });

  it("reads the most overdue candidates first", async () => {
    const days = ["2090-01-24", "2090-01-22", "2090-01-23"];
    for (const day of days) await candidates.insert(candidateWithExpiry(account.id, day), author());
    const read = await candidates.reader.expiring("2090-01-25", 2);
    expect(read.map(({ documents }) => documents[0]?.expires_on)).to.deep.equal(["2090-01-22", "2090-01-23"]);
    expect(await sweepAt(Date.parse("2090-01-25T00:00:00Z"))).to.equal(3);
  });

  it("leaves a candidate that somebody changes at the same moment to the next call", async () => {
    const { id } = await candidates.insert(candidateWithExpiry(account.id, "2090-01-28"), author());
    const expiring = candidates.reader.expiring.bind(candidates.reader);
    const raced = new CandidateStore(service.operators.mongo, new SharedClock());
    raced.reader.expiring = async (before, limit) => {
      const due = await expiring(before, limit);
      await client.patch(`/candidates/${id}`, { name: "Ann" });
      return due;
    };
    expect(await raced.batches.expire("2090-01-29")).to.equal(0);
    expect(await stateOf(id)).to.deep.equal(["completed", "accepted"]);
    expect(await candidates.batches.expire("2090-01-29")).to.equal(1);
    expect(await stateOf(id)).to.deep.equal(["action_required", "expired"]);
  });

  it("expires all overdue documents of every account", async () => {
    const other = await service.account();
    for (let n = 0; n < 130; n++)
      await candidates.insert(candidateWithExpiry(n % 2 === 0 ? account.id : other.id, "2090-01-30"), author());
    expect(await sweepAt(lastMoment)).to.equal(130);
    for (const { client } of [account, other])
      expect((await client.get("/candidates?state=completed")).body.data).to.have.length(0);
  });

  it("stops when it is aborted", async () => {
    for (let n = 0; n < 3; n++) await candidates.insert(candidateWithExpiry(account.id, "2090-01-30"), author());
    expect(await expiries(candidates.batches, { now: () => lastMoment }).run(AbortSignal.abort())).to.equal(0);
    expect(await sweepAt(lastMoment)).to.equal(3);
  });
});
