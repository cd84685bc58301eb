import { expect } from "chai";
import { spreadOptOuts } from "../../src/reminders/spread-opt-outs.ts";
import { iso } from "./support.ts";
import { useWorkbench } from "./workbench.ts";

const go = new AbortController().signal;

describe("a candidate whose record is damaged holds up nobody's", () => {
  const { mongo, bench } = useWorkbench();
  let damaged: string;
  let id: string;
  beforeEach(async () => {
    damaged = await bench.candidate({ email: "bob@example.com", documents: ["CV"] });
    id = await bench.candidate({ email: "ada@example.com", documents: ["CV"] });
    const candidates = mongo.db.collection<{ _id: string }>("candidates");
    await candidates.updateOne({ _id: damaged }, { $set: { references: [null], created_at: "yesterday" } });
  });

  it("reminders", async () => {
    expect(await bench.sender().run(go)).to.equal(1);
    expect(bench.sent).to.have.length(1);
    expect((await bench.read(id)).documents[0]?.chase.attempts).to.equal(1);
  });

  it("new plans after a change of settings", async () => {
    await bench.stores.accounts.noteChange(bench.accountId, iso(bench.now));
    bench.assistant = { chase_interval_hours: 24 };
    bench.rules.forget(bench.accountId);
    await bench.replan(go);
    bench.assistant = { enabled: false };
    bench.rules.forget(bench.accountId);
    await bench.replan(go);
    expect((await bench.read(id)).outreach.reason).to.equal("disabled");
  });

  it("opt-outs", async () => {
    const { accountId, candidates, stores } = bench;
    const address = stores.addresses.of("ada@example.com");
    await stores.optOuts.add({ accountId, id: damaged, to: "candidate", address }, iso(bench.now));
    expect(await spreadOptOuts({ candidates, stores }, go)).to.equal(1);
    expect((await bench.read(id)).outreach.opted_out).to.deep.equal(["ada@example.com"]);
  });
});
