import { expect } from "chai";
import { patched } from "../../src/candidates/edits.ts";
import type { Outcome } from "../../src/reminders/mailer.ts";
import { HOUR, iso } from "./support.ts";
import { useWorkbench } from "./workbench.ts";

const MINUTE = HOUR / 60;
const SECOND = MINUTE / 60;
const REF = "ref@example.com";
const go = new AbortController().signal;

describe("The sender of reminders, when something fails", () => {
  const { mongo, bench } = useWorkbench();
  const run = () => bench.sender().run(go);
  const recipients = () => bench.sent.map(({ to }) => to.address);

  it("repeats an attempt that is refused for the moment, with growing pauses, and counts it once", async () => {
    const id = await bench.candidate({ documents: ["CV"] });
    const seen: string[] = [];
    bench.deliver = ({ messageId }) => {
      seen.push(messageId);
      return seen.length < 4 ? { kind: "deferred", code: "450" } : { kind: "sent", code: "250" };
    };
    for (const minutes of [0, 1, 2, 4]) {
      bench.now += minutes * MINUTE - SECOND;
      const before = seen.length;
      if (minutes > 0) await run();
      expect(seen.length, `before ${minutes} minutes`).to.equal(before);
      bench.now += SECOND;
      await run();
      expect(seen.length, `after ${minutes} minutes`).to.equal(before + 1);
    }
    expect(new Set(seen).size, "one Message-ID").to.equal(1);
    const { documents, outreach } = await bench.read(id);
    const { attempts, last_at } = documents[0]!.chase;
    expect(attempts).to.equal(1);
    expect(bench.now - Date.parse(last_at ?? ""), "the last try counts").to.be.below(SECOND);
    expect(outreach.next_at).to.equal(iso(Date.parse(last_at ?? "") + 48 * HOUR));
    const history = await bench.stores.messages.of({ accountId: bench.accountId, id });
    expect(history.map(({ kind }) => kind)).to.deep.equal(["deferred", "deferred", "deferred", "sent"]);
  });

  it("notes a bounce: the reference is bounced, the candidate waits, and neither is written to again", async () => {
    const id = await bench.candidate({ documents: ["CV"], references: [REF] });
    bench.deliver = () => ({ kind: "bounced", code: "550" });
    await run();
    bench.now += 480 * HOUR;
    bench.deliver = () => ({ kind: "sent", code: "250" });
    await run();
    expect(bench.sent).to.deep.equal([]);
    const record = await bench.read(id);
    expect(record.references[0]?.state).to.equal("bounced");
    expect(record.outreach).to.include({ next_at: null, reason: "bounced" });
    await bench.change(id, (before) => patched(before, { email: "new@example.com" }));
    bench.now += 2 * MINUTE;
    await run();
    expect(recipients()).to.deep.equal(["new@example.com"]);
  });

  it("gives up after five days of refusals for the moment: that is a bounce", async () => {
    const id = await bench.candidate({ references: [REF] });
    bench.deliver = () => ({ kind: "deferred", code: "450" });
    const begin = bench.now;
    for (let tries = 0; (await bench.read(id)).references[0]?.state !== "bounced"; tries++) {
      expect(tries).to.be.below(200);
      bench.now = Math.max(bench.now, Date.parse((await bench.read(id)).outreach.next_at ?? ""));
      await run();
    }
    expect((bench.now - begin) / HOUR / 24).to.be.within(4.5, 5.5);
  });

  it("stops at an outage of mail, records few attempts, and sends all of them later", async () => {
    for (let n = 0; n < 40; n++) await bench.candidate({ documents: ["CV"] });
    const outage: Outcome = { kind: "outage", code: "ECONNREFUSED" };
    bench.deliver = () => outage;
    const sender = bench.sender({ pauseMs: 60_000 });
    await sender.run(go);
    await sender.run(go);
    expect(bench.asked, "while it is paused, the mail server is not asked").to.equal(0);
    const claimed = (await mongo.db.collection("candidates").find().toArray()).filter(
      ({ documents }) => (documents as { chase: { attempts: number } }[])[0]?.chase.attempts === 1,
    );
    expect(claimed.length).to.be.within(1, 5);
    bench.deliver = () => ({ kind: "sent", code: "250" });
    bench.now += MINUTE;
    await run();
    expect(bench.sent).to.have.length(40);
    expect(new Set(recipients())).to.have.length(1);
  });

  it("sends a message within a minute after mail works again, however often it failed before", async () => {
    await bench.candidate({ documents: ["CV"] });
    bench.deliver = () => ({ kind: "outage", code: "ETIMEDOUT" });
    for (let n = 0; n < 10; n++) {
      await run();
      bench.now += MINUTE;
    }
    bench.deliver = () => ({ kind: "sent", code: "250" });
    await run();
    expect(bench.sent).to.have.length(1);
  });

  it("forgets the pauses after refusals once mail could not be used: the next try comes within a minute", async () => {
    await bench.candidate({ documents: ["CV"] });
    bench.deliver = () => ({ kind: "deferred", code: "450" });
    for (const minutes of [0, 1, 2, 4, 8]) {
      bench.now += minutes * MINUTE;
      await run();
    }
    bench.deliver = () => ({ kind: "outage", code: "ETIMEDOUT" });
    bench.now += 16 * MINUTE;
    await run();
    bench.deliver = () => ({ kind: "sent", code: "250" });
    bench.now += MINUTE;
    await run();
    expect(bench.sent).to.have.length(1);
  });

  it("counts refusals anew for another address", async () => {
    const id = await bench.candidate({ documents: ["CV"] });
    bench.deliver = () => ({ kind: "deferred", code: "450" });
    const next = async () => Date.parse((await bench.read(id)).outreach.next_at ?? "");
    for (let n = 0; n < 10; n++) {
      bench.now = Math.max(bench.now, await next());
      await run();
    }
    await bench.change(id, (record) => ({ ...record, email: "new@example.com" }));
    bench.now = Math.max(bench.now, await next());
    await run();
    expect((await next()) - bench.now).to.be.at.most(MINUTE);
  });

  it("loses no attempt if the store fails while a link is made", async () => {
    const id = await bench.candidate({ documents: ["CV"] });
    const { links } = bench.stores;
    const add = links.add.bind(links);
    links.add = () => Promise.reject(new Error("no primary"));
    const failure = await run().catch((error: unknown) => error);
    links.add = add;
    expect(failure).to.be.instanceOf(AggregateError);
    expect((await bench.read(id)).documents[0]?.chase.attempts).to.equal(0);
    await run();
    expect(bench.sent).to.have.length(1);
  });

  it("does not try the mail server while it cannot be used", async () => {
    await bench.candidate({ documents: ["CV"] });
    bench.deliver = () => ({ kind: "outage", code: "ECONNREFUSED" });
    const sender = bench.sender();
    await sender.run(go);
    bench.now += HOUR;
    bench.mailWorks = false;
    bench.deliver = () => expect.fail("the mail server was used");
    await sender.run(go);
    bench.mailWorks = true;
    bench.deliver = () => ({ kind: "sent", code: "250" });
    await sender.run(go);
    expect(bench.sent).to.have.length(1);
  });

  it("stops when it is told to: what is not sent stays due", async () => {
    for (let n = 0; n < 20; n++) await bench.candidate({ documents: ["CV"] });
    const stop = new AbortController();
    bench.deliver = () => {
      stop.abort();
      return { kind: "sent", code: "250" };
    };
    await bench.sender().run(stop.signal);
    expect(bench.sent.length).to.be.within(1, 5);
    bench.deliver = () => ({ kind: "sent", code: "250" });
    await run();
    expect(bench.sent).to.have.length(20);
  });

  it("does not hold refusals against an address while mail cannot be used", async () => {
    const id = await bench.candidate({ references: [REF] });
    bench.deliver = () => ({ kind: "outage", code: "ECONNREFUSED" });
    for (let n = 0; n < 130; n++) {
      await run();
      bench.now += MINUTE;
    }
    bench.deliver = () => ({ kind: "deferred", code: "450" });
    await run();
    expect((await bench.read(id)).references[0]).to.deep.include({ state: "requested" });
    bench.now += MINUTE;
    bench.deliver = () => ({ kind: "sent", code: "250" });
    await run();
    expect(bench.sent, "a minute after the first refusal").to.have.length(1);
  });

  it("goes on with the others if a candidate fails, and says so", async () => {
    for (const email of ["a@example.com", "b@example.com"]) await bench.candidate({ email, documents: ["CV"] });
    bench.deliver = ({ to }) => {
      if (to.address === "a@example.com") throw new Error("failed on purpose");
      return { kind: "sent", code: "250" };
    };
    const failure = await bench
      .sender()
      .run(go)
      .catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(AggregateError);
    expect(bench.sent.map(({ to }) => to.address)).to.include("b@example.com");
  });

  it("leaves nothing behind of a candidate that is erased while its message is being sent", async () => {
    const id = await bench.candidate({ documents: ["CV"] });
    bench.deliver = async () => {
      await bench.candidates.erase(bench.accountId, id, "key_1", () => undefined);
      return { kind: "deferred", code: "450" };
    };
    await run();
    for (const name of ["links", "messages"]) expect(await mongo.db.collection(name).countDocuments()).to.equal(0);
  });

  it("records what became of a message before it is settled", async () => {
    const id = await bench.candidate({ documents: ["CV"] });
    const stop = new AbortController();
    let response: (outcome: Outcome) => void = () => undefined;
    const given = new Promise<void>((resolve) => {
      bench.deliver = () => {
        resolve();
        return new Promise((settle) => (response = settle));
      };
    });
    const sender = bench.sender();
    void sender.run(stop.signal);
    await given;
    stop.abort();
    response({ kind: "outage", code: "ECONNECTION" });
    await sender.settled(60_000);
    expect((await bench.read(id)).outreach.recipients[0]?.last?.retry_at).to.be.a("string");
  });
});
