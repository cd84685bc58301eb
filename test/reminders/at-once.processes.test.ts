import { NO_OUTREACH } from "../../src/candidates/outreach.ts";
import { expect } from "chai";
import { HOUR, requestedDocument, requestedReference } from "./support.ts";
import { useWorkbench, Workbench } from "./workbench.ts";

const CONNECTIONS = 10;
const REF = "ref@example.com";
const NEW = "new@example.com";
const SENT = { kind: "sent", code: "250" } as const;
const go = new AbortController().signal;

describe("The sender of reminders, when much is due at once", () => {
  const { mongo, bench } = useWorkbench();
  const run = (signal = go) => bench.sender({ connections: CONNECTIONS }).run(signal);
  const recipients = () => bench.sent.map(({ to }) => to.address);
  const withMessage = (n: number) => ({ email: `${n}@example.com`, documents: [requestedDocument("doc_1")] });

  it("ends a pass only if nothing was done: no number of lapses keeps a first message waiting", async () => {
    const outreach = { ...NO_OUTREACH, opted_out: [REF] };
    await bench.fill(130, () => ({ references: [requestedReference("ref_1", { email: REF })], outreach }));
    bench.now += 48 * HOUR;
    await bench.candidate({ email: NEW, documents: ["CV"] });
    await run();
    expect(recipients()).to.deep.equal([NEW]);
    const lapsed = { "references.state": "unresponsive" };
    expect(await mongo.db.collection("candidates").countDocuments(lapsed)).to.equal(130);
  });

  it("uses all connections, and no more", async () => {
    await bench.fill(3 * CONNECTIONS, withMessage);
    let [open, most] = [0, 0];
    let goOn: () => void = () => undefined;
    const allOpen = new Promise<void>((resolve) => (goOn = resolve));
    bench.deliver = async () => {
      most = Math.max(most, ++open);
      if (open === CONNECTIONS) goOn();
      await allOpen; // with fewer connections no message would end
      open--;
      return SENT;
    };
    await run();
    expect([bench.sent.length, most]).to.deep.equal([3 * CONNECTIONS, CONNECTIONS]);
  });

  it("lets a slow message hold up no other one, of no account", async () => {
    const other = new Workbench(mongo);
    await Promise.all([bench.fill(60, withMessage), other.fill(10, withMessage)]);
    let end: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    let others = 0;
    bench.deliver = async ({ to }) => {
      if (to.address === "0@example.com") await ended;
      else if (++others === 68) end();
      return SENT;
    };
    await run();
    expect(bench.sent).to.have.length(70);
  });

  it("sends the first message of an account that comes later, while another one's hundreds wait for slow connections", async () => {
    await bench.fill(150, withMessage);
    const other = new Workbench(mongo);
    other.now = bench.now + HOUR;
    bench.now += 2 * HOUR;
    let hold: Promise<unknown> | undefined;
    bench.deliver = async ({ to }) => {
      if (bench.sent.length === 30) hold ??= other.candidate({ email: NEW, documents: ["CV"] });
      if (to.address !== NEW) await hold;
      return SENT;
    };
    await run();
    expect(recipients()).to.have.length(151);
    expect(recipients().indexOf(NEW)).to.be.within(30, 100);
  });

  it("looks once more after the wait for a connection: what is stopped by then is not sent, and costs nothing", async () => {
    await bench.fill(CONNECTIONS + 5, withMessage);
    bench.deliver = async () => {
      await bench.configure({ enabled: false });
      return SENT;
    };
    await bench.sender({ connections: 1 }).run(go);
    expect(bench.sent).to.have.length(1);
    const [day] = await bench.stores.budget.since(bench.now);
    expect(day).to.include({ messages: 1, new_addresses: 1 });
    expect(await mongo.db.collection("links").countDocuments()).to.equal(1);
  });

  it("ends after the messages that are being sent when it is stopped", async () => {
    await bench.fill(50, withMessage);
    const stop = new AbortController();
    bench.deliver = () => {
      stop.abort();
      return SENT;
    };
    const sent = await run(stop.signal);
    expect(sent).to.equal(bench.sent.length).and.to.be.within(1, CONNECTIONS);
    const [day] = await bench.stores.budget.since(bench.now);
    expect(day).to.include({ messages: sent });
    await run();
    expect(new Set(recipients())).to.have.length(50);
    expect(bench.sent).to.have.length(50);
  });

  it("goes on although some candidates fail, and leaves these to the next pass", async () => {
    await bench.fill(60, withMessage);
    const delivered = bench.deliver;
    let messages = 0;
    bench.deliver = (message) => {
      if (++messages % 3 === 0) throw new Error("failed on purpose");
      return delivered(message);
    };
    const failure = await run().catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(AggregateError).with.property("errors").with.length(20);
  });

  it("passes by candidates whose records are damaged", async () => {
    await bench.fill(60, (n) => ({ ...withMessage(n), job_title: n % 3 === 0 ? "broken" : null }));
    await mongo.db.collection("candidates").updateMany({ job_title: "broken" }, { $set: { metadata: "{" } });
    expect(await run()).to.equal(40);
    expect(bench.sent).to.have.length(40);
  });
});
