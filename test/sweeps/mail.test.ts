import { expect } from "chai";
import type { LinkStore } from "../../src/reminders/link-store.ts";
import { spreadOptOuts } from "../../src/reminders/spread-opt-outs.ts";
import { leftOverMail } from "../../src/sweeps/mail.ts";
import { until } from "../erasure/support.ts";
import { HOUR } from "../reminders/support.ts";
import { useWorkbench } from "../reminders/workbench.ts";

const ADA = "ada@example.com";
const DAY = 24 * HOUR;
const go = new AbortController().signal;

describe("the sweep of what messages leave", () => {
  const { mongo, bench } = useWorkbench();
  const sweep = () => leftOverMail(bench.stores, { now: () => bench.now }).run(go);
  const stored = async (name: string) => mongo.db.collection(name).find().toArray();
  const countOf = async (name: string) => (await stored(name)).length;

  /** Sends what is due, and erases the candidate just before the link is made. @param drop removes the link again. */
  async function sendDuringErasure(id: string, drop?: LinkStore["drop"]): Promise<unknown> {
    const { links } = bench.stores;
    const [add, kept] = [links.add.bind(links), links.drop.bind(links)];
    links.add = async (link) => {
      if (link.id === id) {
        await bench.candidates.erase(bench.accountId, id, "key_1", () => undefined);
        await bench.stores.removeAll({ accountId: bench.accountId, id });
      }
      return add(link);
    };
    if (drop !== undefined) links.drop = drop;
    return bench
      .sender()
      .run(go)
      .catch((error: unknown) => error)
      .finally(() => Object.assign(links, { add, drop: kept }));
  }

  it("has nothing to do if a person is erased between the reading of a due message and the making of its link", async () => {
    const id = await bench.candidate({ documents: ["CV"] });
    expect(await sendDuringErasure(id)).to.equal(0);
    for (const name of ["links", "messages", "mail_addresses"]) expect(await countOf(name), name).to.equal(0);
    expect(JSON.stringify(await stored("mail_address_days")), "what remains of the address").not.to.contain(id);
    expect((await stored("mail_account_days"))[0]).to.include({ messages: 0, new_addresses: 0 });
    bench.now += DAY;
    expect(await sweep()).to.equal(0);
  });

  it("removes the link and the address of that person if the replica died in between, an hour later", async () => {
    const id = await bench.candidate({ documents: ["CV"] });
    const kept = await bench.candidate({ email: "b@example.com", documents: ["CV"] });
    await sendDuringErasure(id, () => Promise.reject(new Error("killed")));
    await bench.sender().run(go);
    expect(await countOf("links")).to.equal(2);
    bench.now += HOUR - 60_000;
    expect(await sweep()).to.equal(0);
    bench.now += 120_000;
    expect(await sweep()).to.equal(1);
    expect((await stored("links")).map(({ candidate }) => candidate as string)).to.deep.equal([kept]);
    expect((await stored("mail_addresses")).map(({ _id }) => String(_id))).to.deep.equal([
      `${bench.accountId}/${bench.stores.addresses.of("b@example.com")}`,
    ]);
    expect(await sweep(), "again").to.equal(0);
  });

  it("settles a message that died before it had a link, and finds nothing of a person who was erased meanwhile", async () => {
    const id = await bench.candidate({ documents: ["CV"] });
    bench.stores.links.add = () => Promise.reject(new Error("killed"));
    await bench
      .sender()
      .run(go)
      .catch(() => undefined);
    await bench.candidates.erase(bench.accountId, id, "key_1", () => undefined);
    await bench.stores.removeAll({ accountId: bench.accountId, id });
    expect(await countOf("mail_addresses")).to.equal(0);
    const _id = `${bench.accountId}/${bench.stores.addresses.of("ada@example.com")}`;
    await mongo.db.collection<{ _id: string }>("mail_addresses").insertOne({ _id });
    bench.now += 2 * HOUR;
    expect(await sweep()).to.equal(1);
    expect(await countOf("mail_addresses")).to.equal(0);
    expect(await sweep(), "again").to.equal(0);
  });

  /** Sends what is due to a new address, and erases the candidate just before the address is noted as known. */
  async function sendDuringNote(id: string): Promise<void> {
    const { budget } = bench.stores;
    const claimed = budget.claimed.bind(budget);
    budget.claimed = async (message) => {
      await bench.candidates.erase(bench.accountId, id, "key_1", () => undefined);
      await bench.stores.removeAll({ accountId: bench.accountId, id });
      await claimed(message);
    };
    await bench
      .sender()
      .run(go)
      .catch(() => undefined);
    budget.claimed = claimed;
  }

  it("finds nothing of a person who was erased while a message to a new address was claimed", async () => {
    await sendDuringNote(await bench.candidate({ documents: ["CV"] }));
    expect(bench.sent).to.have.length(1);
    for (const name of ["links", "messages", "mail_addresses"]) expect(await countOf(name), name).to.equal(0);
  });

  it("removes the address of that person if the replica died before it recorded the message", async () => {
    const id = await bench.candidate({ documents: ["CV"] });
    bench.deliver = () => Promise.reject(new Error("killed"));
    await sendDuringNote(id);
    await until(async () => (await countOf("mail_addresses")) === 1);
    bench.now += 2 * HOUR;
    expect(await sweep()).to.equal(1);
    expect(await countOf("mail_addresses")).to.equal(0);
  });

  it("keeps the counts of 35 days", async () => {
    await bench.candidate({ documents: ["CV"] });
    await bench.sender().run(go);
    for (const name of ["mail_account_days", "mail_address_days"]) expect(await countOf(name), name).to.equal(1);
    bench.now += 35 * DAY;
    expect(await sweep()).to.equal(0);
    bench.now += DAY;
    expect(await sweep()).to.equal(2);
  });

  it("leaves no trace of a person who stops the messages while being erased, but the stop itself", async () => {
    const { links, addresses, optOuts } = bench.stores;
    const id = await bench.candidate({ documents: ["CV"] });
    const link = { accountId: bench.accountId, id, to: "candidate", address: addresses.of(ADA) };
    await links.add(link);
    await bench.candidates.erase(bench.accountId, id, "key_1", () => undefined);
    await bench.stores.removeAll(link);
    await optOuts.add(link, "2026-11-01T00:00:00.000Z");
    await spreadOptOuts(bench, go);
    expect(await optOuts.list(bench.accountId)).to.deep.equal([{ at: "2026-11-01T00:00:00.000Z", candidate_id: null }]);
    expect(JSON.stringify(await stored("opt_outs"))).to.not.contain(id);
    const again = await bench.candidate({ documents: ["CV"] });
    expect((await bench.read(again)).outreach.reason).to.equal("opted_out");
  });
});
