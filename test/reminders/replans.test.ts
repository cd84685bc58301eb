import { expect } from "chai";
import { HOUR, iso } from "./support.ts";
import { useWorkbench, Workbench } from "./workbench.ts";

const SECOND = 1_000;
const go = new AbortController().signal;

describe("After settings of reminders were changed", () => {
  const { mongo, bench } = useWorkbench();
  const key = (id: string) => ({ accountId: bench.accountId, id });
  /** Changes settings as the service does. */
  async function change(edit: () => void): Promise<void> {
    await bench.stores.accounts.noteChange(bench.accountId, iso(bench.now));
    edit();
    bench.rules.forget(bench.accountId);
  }

  it("every candidate that waits gets a new plan, and a new version if that shows another time", async () => {
    const id = await bench.candidate({ documents: ["CV"] });
    await bench.sender().run(go);
    const before = await bench.read(id);
    expect(await bench.replan(go), "nothing has changed").to.equal(0);
    await change(() => (bench.assistant = { chase_interval_hours: 24 }));
    expect(await bench.replan(go)).to.equal(1);
    const after = await bench.read(id);
    const last = Date.parse(before.documents[0]?.chase.last_at ?? "");
    expect([before.outreach.next_at, after.outreach.next_at]).to.deep.equal([
      iso(last + 48 * HOUR),
      iso(last + 24 * HOUR),
    ]);
    expect(after.version).to.equal(before.version + 1);
  });

  it("a plan that shows the same stays the same version", async () => {
    const id = await bench.candidate({ documents: ["CV"] });
    await bench.sender().run(go);
    const { version, outreach } = await bench.read(id);
    await change(() => (bench.quietHours = { enabled: true, start: "02:00", end: "03:00" }));
    expect(await bench.replan(go)).to.equal(0);
    const after = await bench.read(id);
    expect(after.version).to.equal(version);
    expect(after.outreach).to.include({ next_at: outreach.next_at }).and.not.to.include({ rules: outreach.rules });
  });

  it("reminders stop at once, and go on when they are enabled again", async () => {
    const id = await bench.candidate({ documents: ["CV"] });
    await change(() => (bench.assistant = { enabled: false }));
    await bench.sender().run(go);
    expect(bench.sent).to.have.length(0);
    expect((await bench.read(id)).outreach).to.include({ next_at: null, reason: "disabled" });
    await change(() => (bench.assistant = {}));
    await bench.replan(go);
    expect((await bench.read(id)).outreach.reason).to.equal(null);
    await bench.sender().run(go);
    expect(bench.sent).to.have.length(1);
  });

  it("an account that is paused gets no reminders until it is resumed", async () => {
    const id = await bench.candidate({ documents: ["CV"] });
    await bench.stores.accounts.noteChange(bench.accountId, iso(bench.now), { paused_at: iso(bench.now) });
    await bench.replan(go);
    await bench.sender().run(go);
    expect(bench.sent).to.have.length(0);
    expect((await bench.read(id)).outreach.reason).to.equal("disabled");
    await bench.stores.accounts.noteChange(bench.accountId, iso(bench.now), { paused_at: null });
    await bench.replan(go);
    await bench.sender().run(go);
    expect(bench.sent).to.have.length(1);
  });

  it("a replica that still follows the old settings for half a minute is put right", async () => {
    const id = await bench.candidate({ documents: ["CV"] });
    await bench.sender().run(go);
    const other = new Workbench(mongo); // another replica, which remembers the old settings
    Object.assign(other, { accountId: bench.accountId, now: bench.now });
    await other.rules.fresh(bench.accountId);
    await change(() => (bench.assistant = { chase_interval_hours: 24 }));
    await bench.replan(go);
    const soon = (await bench.read(id)).outreach.next_at;
    other.now = bench.now;
    await other.change(id, (record) => ({ ...record, name: "Bea" }));
    expect((await bench.read(id)).outreach.next_at, "the old interval").not.to.equal(soon);
    bench.now += 61 * SECOND;
    expect(await bench.replan(go)).to.equal(1);
    expect((await bench.read(id)).outreach.next_at).to.equal(soon);
    expect(await bench.stores.accounts.changed(10), "it is settled").to.deep.equal([]);
  });

  it("a time zone that this runtime does not know is quiet and logged, until a replica that knows it plans again", async () => {
    const id = await bench.candidate({ documents: ["CV"] });
    await change(() => (bench.quietHours = { enabled: true, timezone: "Mars/Olympus" }));
    for (const pass of ["first", "second", "third"]) {
      expect(await bench.sender().run(go), `sent in the ${pass} pass`).to.equal(0);
      await bench.replan(go);
    }
    expect((await bench.read(id)).outreach).to.include({ next_at: null, reason: "quiet_hours" });
    expect(bench.log).to.deep.equal([{ account: bench.accountId, timezone: "Mars/Olympus" }]);
    bench.now += 61 * SECOND;
    await bench.replan(go);
    const other = new Workbench(mongo); // a replica with a newer tz database
    Object.assign(other, { accountId: bench.accountId, now: bench.now, quietHours: { enabled: true } });
    await other.replan(go);
    expect((await bench.read(id)).outreach).to.include({ reason: null });
    expect(await other.sender().run(go)).to.equal(1);
  });

  it("a failure of one account does not keep the others waiting", async () => {
    const other = new Workbench(mongo);
    other.now = bench.now;
    const id = await other.candidate({ documents: ["CV"] });
    await bench.candidate({ documents: ["CV"] });
    const fresh = other.rules.fresh.bind(other.rules);
    other.rules.fresh = (of) => (of === bench.accountId ? Promise.reject(new Error("no settings")) : fresh(of));
    await bench.stores.accounts.noteChange(bench.accountId, iso(other.now));
    await other.stores.accounts.noteChange(other.accountId, iso(other.now + 1));
    other.assistant = { enabled: false };
    const failure = await other.replan(go).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(AggregateError);
    expect((await other.read(id)).outreach).to.include({ reason: "disabled" });
  });

  it("candidates are planned in batches, until none is left, and erased ones are left out", async () => {
    const ids: string[] = [];
    for (let n = 0; n < 130; n++) ids.push(await bench.candidate({ documents: ["CV"] }));
    await bench.candidates.erase(bench.accountId, ids[0]!, "key_1", () => undefined);
    await change(() => (bench.quietHours = { enabled: true, start: "09:00", end: "12:00" }));
    expect(await bench.replan(go)).to.equal(129);
    const { outreach } = await bench.candidates.reader.get(key(ids[1]!).accountId, ids[1]!);
    expect(outreach.next_at).to.equal(iso(Date.parse("2026-03-02T12:00:00Z")));
  });
});
