import { optedOut } from "../../src/candidates/outreach.ts";
import { patched, withOutreach } from "../../src/candidates/edits.ts";
import { MAX_CANDIDATE_BYTES } from "../../src/candidates/stored.ts";
import { expect } from "chai";
import { Scrape } from "../support/metrics.ts";
import { HOUR } from "./support.ts";
import { useWorkbench, Workbench } from "./workbench.ts";

const ADA = "ada@example.com";
const REF = "ref@example.com";
const go = new AbortController().signal;

describe("The sender of reminders", () => {
  const { mongo, bench } = useWorkbench();
  const run = () => bench.sender().run(go);
  const recipients = () => bench.sent.map(({ to }) => to.address);

  it("writes to the candidate and to each referee at the start, and again at the interval, up to the caps", async () => {
    const id = await bench.candidate({ documents: ["CV", "Passport"], references: [REF] });
    await run();
    expect(recipients()).to.deep.equal([ADA, REF]);
    await run();
    expect(bench.sent, "nothing is due").to.have.length(2);
    for (let n = 1; n < 6; n++) {
      bench.now += 48 * HOUR;
      await run();
    }
    expect(recipients().toSorted()).to.deep.equal([ADA, ADA, ADA, REF, REF, REF]);
    expect(new Set(bench.sent.map(({ messageId }) => messageId)).size).to.equal(6);
    const record = await bench.read(id);
    expect(record.documents.map(({ chase }) => chase.attempts)).to.deep.equal([3, 3]);
    expect(record.references[0]).to.deep.include({ state: "unresponsive" });
    expect(record.outreach).to.include({ next_at: null, reason: "cap_reached" });
    const entries = record.history.lines.split("\n").filter((line) => line.includes('"reminder_sent"'));
    expect(entries, "each is in the history, by the service").to.have.length(6);
    for (const line of entries) expect(line).to.match(/"service","reminders","reminder_sent","(cand|ref)_/);
  });

  it("is exact if ten replicas send at once: each attempt once, and none above a cap", async () => {
    for (let n = 0; n < 8; n++) await bench.candidate({ documents: ["CV"], references: [REF, "b@example.com"] });
    const senders = Array.from({ length: 10 }, () => bench.sender());
    for (let round = 0; round < 4; round++) {
      await Promise.all(senders.map((sender) => sender.run(go)));
      expect(bench.sent).to.have.length(24 * Math.min(round + 1, 3));
      bench.now += 48 * HOUR;
    }
    expect(new Set(bench.sent.map(({ messageId }) => messageId)).size).to.equal(72);
  });

  it("takes a last look: nothing goes out for what was withdrawn, settled, erased, stopped or used up meanwhile", async () => {
    const ids = await Promise.all(Array.from({ length: 5 }, () => bench.candidate({ documents: ["CV"] })));
    const [withdrawn, settled, erased, stopped, capped] = ids as [string, string, string, string, string];
    bench.stores.plans.due = () => Promise.resolve(ids.map((id) => ({ accountId: bench.accountId, id })));
    await bench.change(withdrawn, (record) => patched(record, { withdrawn: true }));
    await bench.change(settled, (record) => ({
      ...record,
      documents: record.documents.map((document) => ({ ...document, state: "received" as const })),
    }));
    await bench.candidates.erase(bench.accountId, erased, "key_1", () => undefined);
    await bench.change(stopped, (record) => optedOut(record, [ADA]));
    await bench.change(capped, (record, at) => withOutreach(record, { docs_chase_attempts: 0 }, at));
    expect(await run()).to.equal(0);
    expect(bench.sent).to.deep.equal([]);
  });

  it("loses one attempt if it crashes between the record and the mail, and sends none twice", async () => {
    const id = await bench.candidate({ documents: ["CV"] });
    let crashes = 1;
    bench.deliver = () => {
      if (crashes-- > 0) throw new Error("crash");
      return { kind: "sent", code: "250" };
    };
    const failure = await run().catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(AggregateError);
    expect((await bench.read(id)).documents[0]?.chase.attempts).to.equal(1);
    await run();
    expect(bench.sent, "the attempt was made").to.have.length(0);
    for (let n = 0; n < 4; n++) {
      bench.now += 48 * HOUR;
      await run();
    }
    expect(bench.sent, "two attempts are left").to.have.length(2);
  });

  it("asks for opt-outs at the last moment, also for one that the candidate does not note yet", async () => {
    const id = await bench.candidate({ documents: ["CV"] });
    const { addresses, optOuts } = bench.stores;
    const link = { accountId: bench.accountId, address: addresses.of(ADA) };
    await optOuts.add(link, new Date(bench.now).toISOString());
    await bench.sender().run(go);
    expect(bench.sent).to.deep.equal([]);
    expect((await bench.read(id)).outreach).to.include({ reason: "opted_out" });
  });

  it("sends within the raised limits of an account until the raise ends", async () => {
    Object.assign(bench.limits, { perAccount: 1, newAddresses: 1 });
    const until = { per_day: 2, new_per_day: 2, expires_at: new Date(bench.now + HOUR).toISOString() };
    const { accounts } = bench.stores;
    const raise = { ...until, approved_by: "Ann", reason: "import" };
    await accounts.noteChange(bench.accountId, new Date(bench.now).toISOString(), { raise });
    for (const email of [ADA, "b@example.com"]) await bench.candidate({ email, documents: ["CV"] });
    await run();
    expect(recipients()).to.have.members([ADA, "b@example.com"]);
    bench.now += 24 * HOUR;
    for (const email of ["c@example.com", "d@example.com"]) await bench.candidate({ email, documents: ["CV"] });
    await run();
    expect(bench.sent).to.have.length(3);
  });

  it("counts an address as new until a message was given to it: not one that the mail server refused for the moment", async () => {
    bench.limits.newAddresses = 2;
    bench.deliver = () => ({ kind: "deferred", code: "450" });
    for (let n = 0; n < 6; n++) {
      await bench.candidate({ email: `p${n}@example.com`, documents: ["CV"] });
      await run();
    }
    bench.deliver = () => ({ kind: "sent", code: "250" });
    for (let n = 0; n < 3; n++) {
      bench.now += HOUR;
      await run();
    }
    expect(bench.sent).to.have.length(2);
  });

  it("follows settings that are changed while a message waits for its turn", async () => {
    await bench.candidate({ documents: ["CV"], references: [REF, "b@example.com"] });
    let turns = 0;
    const turn = async () => {
      if (++turns === 2) await bench.configure({ enabled: false });
      return true;
    };
    await bench.sender({ newPace: () => ({ turn }) }).run(go);
    expect(recipients()).to.deep.equal([ADA]);
  });

  it("sends nothing more for a candidate whose reminders are turned off while a message waits for its turn", async () => {
    const id = await bench.candidate({ documents: ["CV"], references: [REF, "b@example.com"] });
    const switched = (on: boolean) =>
      bench.change(id, (record, at) => withOutreach(record, { outreach_enabled: on }, at));
    let turns = 0;
    const turn = async () => {
      if (++turns === 2) await switched(false);
      return true;
    };
    await bench.sender({ newPace: () => ({ turn }) }).run(go);
    expect(recipients()).to.have.length(1);
    bench.now += 1000 * HOUR;
    await run();
    expect(recipients(), "however late").to.have.length(1);
    await switched(true);
    await run();
    expect(recipients(), "one message each").to.have.length(4);
    expect((await bench.read(id)).references.map(({ state }) => state)).to.deep.equal(["requested", "requested"]);
  });

  it("takes a turn only for a message, not for a reference that becomes unresponsive", async () => {
    const id = await bench.candidate({ references: [REF] });
    for (let n = 0; n < 3; n++) {
      await run();
      bench.now += 48 * HOUR;
    }
    await bench.sender({ newPace: () => ({ turn: () => expect.fail("a turn was taken") }) }).run(go);
    expect((await bench.read(id)).references[0]).to.deep.include({ state: "unresponsive" });
  });

  it("reminds a candidate whose record is full", async () => {
    const id = await bench.candidate({ documents: ["CV", "Passport"], references: [REF] });
    const size = async () => (await mongo.db.collection("candidates").findOne({ account: bench.accountId }))?.["size"];
    await bench.change(id, (record) => ({ ...record, withdrawn: true }));
    const left = MAX_CANDIDATE_BYTES - Number(await size());
    await bench.change(id, (record) => ({ ...record, metadata: { filler: "x".repeat(left - 15) } }));
    await bench.change(id, (record) => ({ ...record, withdrawn: false }));
    for (let n = 0; n < 4; n++) {
      await run();
      bench.now += 48 * HOUR;
    }
    expect(bench.sent).to.have.length(6);
    expect((await bench.read(id)).references[0]).to.deep.include({ state: "unresponsive" });
    expect(await size()).to.be.above(MAX_CANDIDATE_BYTES);
    const grown = await bench.change(id, (record) => ({ ...record, name: "x".repeat(500) })).catch(String);
    expect(grown).to.contain("more than");
  });

  it("takes the accounts in turn: one with many reminders does not keep another waiting", async () => {
    for (let n = 0; n < 150; n++) await bench.candidate({ email: `${n}@example.com`, documents: ["CV"] });
    const other = new Workbench(mongo);
    other.now = bench.now;
    await other.candidate({ email: "other@example.com", documents: ["CV"] });
    bench.now = other.now;
    const place = new Promise<number>((resolve) => {
      bench.deliver = ({ to }) => {
        if (to.address === "other@example.com") resolve(bench.sent.length);
        return { kind: "sent", code: "250" };
      };
    });
    await run();
    expect(await place).to.be.below(10);
    expect(bench.sent).to.have.length(151);
  });

  it("counts what it plans and what becomes of it, and logs no address", async () => {
    await bench.candidate({ documents: ["CV"], references: [REF] });
    await run();
    const metrics = new Scrape(await bench.metrics.registry.metrics());
    for (const recipient of ["candidate", "referee"])
      for (const outcome of ["planned", "sent"])
        expect(metrics.value("outreach_messages_total", { recipient, outcome })).to.equal(1);
    expect(JSON.stringify(bench.log))
      .to.contain("message_id")
      .and.not.to.contain("@example.com>")
      .and.not.to.contain(ADA);
  });
});
