import { expect } from "chai";
import type { CountedMessage } from "../../src/reminders/mail-budget.ts";
import type { Outcome } from "../../src/reminders/mailer.ts";
import { recorder } from "../../src/reminders/recorder.ts";
import { iso } from "./support.ts";
import { useWorkbench } from "./workbench.ts";

const go = new AbortController().signal;

describe("What became of messages", () => {
  const { mongo, bench } = useWorkbench();
  const countOf = (name: string) => mongo.db.collection(name).countDocuments();

  /** A message about a candidate that was counted and claimed. */
  async function claimed(id: string, n: number): Promise<CountedMessage> {
    const { addresses, budget } = bench.stores;
    const key = { accountId: bench.accountId, id };
    const next = { ...key, key: `message ${n}`, address: addresses.of(`${n}@example.com`) };
    const counted = await budget.count(next, bench.limits, "", bench.now);
    if ("until" in counted) throw new Error("It is held.");
    await budget.claimed(counted);
    return counted;
  }
  const tried = (counted: CountedMessage, n: number, kind: Outcome["kind"]) => ({
    tried: { message_id: `${n}`, to: "candidate", documents: [], tries: 1, kind, code: "", at: iso(bench.now) },
    counted,
  });

  it("is counted and settled for all that are recorded together, but not for what is given back", async () => {
    const id = await bench.candidate({});
    const kinds = ["sent", "bounced", "unconfirmed", "deferred", "bounced"] as const;
    const record = recorder(bench.stores);
    const all = [];
    for (const [n, kind] of kinds.entries()) all.push(tried(await claimed(id, n), n, kind));
    await Promise.all(all.map((each) => record(each, all.length)));
    expect(await countOf("messages")).to.equal(5);
    expect((await bench.stores.budget.since(bench.now))[0]).to.include({ messages: 5, bounced: 2 });
    const [day] = await bench.stores.budget.pendingSince("9", 10);
    expect(day?.pending.map(({ key }) => key)).to.deep.equal(["message 3"]);
  });

  for (const [when, fails] of [
    ["", false],
    [", although the history cannot be written", true],
  ] as const)
    it(`leaves nothing of a person who was erased meanwhile${when}`, async () => {
      const [id, kept] = [await bench.candidate({}), await bench.candidate({})];
      const [erased, other] = [await claimed(id, 1), await claimed(kept, 2)];
      await bench.candidates.erase(bench.accountId, id, "key_1", () => undefined);
      const { messages } = bench.stores;
      if (fails) messages.add = () => Promise.reject(new Error("It is down."));
      const record = recorder(bench.stores);
      const both = [record(tried(erased, 1, "sent"), 2), record(tried(other, 2, "sent"), 2)];
      const ends = await Promise.allSettled(both);
      expect(new Set(ends.map(({ status }) => status))).to.deep.equal(new Set([fails ? "rejected" : "fulfilled"]));
      expect(await countOf("messages")).to.equal(fails ? 0 : 1);
      const known = await mongo.db.collection("mail_addresses").find().toArray();
      expect(known.map(({ _id }) => String(_id))).to.deep.equal([`${bench.accountId}/${other.address}`]);
    });

  for (const kind of ["outage", "deferred"] as const)
    it(`gives back the count and the link of a message that was not taken: ${kind}`, async () => {
      await bench.candidate({ documents: ["CV"] });
      bench.deliver = () => ({ kind, code: "450" });
      await bench.sender().run(go);
      expect((await bench.stores.budget.since(bench.now))[0]).to.include({ messages: 0, new_addresses: 0 });
      expect(await countOf("links")).to.equal(0);
    });

  it("is recorded although its candidate cannot be changed", async () => {
    await bench.candidate({ documents: ["CV"] });
    bench.deliver = () => {
      bench.candidates.change = () => Promise.reject(new Error("broken"));
      return { kind: "bounced", code: "550" };
    };
    await bench
      .sender()
      .run(go)
      .catch(() => undefined);
    expect((await bench.stores.budget.since(bench.now))[0]).to.include({ messages: 1, bounced: 1 });
    expect(await countOf("messages")).to.equal(1);
  });
});
