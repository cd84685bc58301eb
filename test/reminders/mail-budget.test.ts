import { expect } from "chai";
import { type CountedMessage, type MailBudget, mailBudget } from "../../src/reminders/mail-budget.ts";
import { useDatabase } from "../support/use-service.ts";
import { HOUR, START } from "./support.ts";

const LIMITS = { perAccount: 3, newAddresses: 2, perAddress: 2 };

describe("The budget of mail", () => {
  const mongo = useDatabase();
  let budget: MailBudget;
  let count = 0;
  beforeEach(async () => {
    await mongo.db.dropDatabase();
    budget = mailBudget(mongo);
  });

  /** Counts a message. Returns undefined if it is held. */
  async function counted(accountId: string, address: string, now = START): Promise<CountedMessage | undefined> {
    const next = { accountId, id: "cand_1", key: `message ${count++}`, address };
    const message = await budget.count(next, LIMITS, "", now);
    return "until" in message ? undefined : message;
  }
  async function sent(accountId: string, address: string, now = START): Promise<void> {
    const message = await counted(accountId, address, now);
    if (message === undefined) throw new Error("It is held.");
    await budget.claimed(message);
    await budget.settle([{ ...message, isBounced: false }]);
  }

  it("takes nothing from an address for a message that the account may not send", async () => {
    await sent("acct_1", "a");
    await sent("acct_1", "b");
    for (let n = 0; n < 3; n++) expect(await counted("acct_1", "c"), "a third new address").to.equal(undefined);
    await sent("acct_2", "c");
    await sent("acct_3", "c");
    expect(await counted("acct_4", "c"), "its own limit").to.equal(undefined);
  });

  it("takes an address for new until a message to it was claimed", async () => {
    expect(await counted("acct_1", "a")).to.include({ isNew: true });
    expect(await counted("acct_1", "a")).to.include({ isNew: true });
    await sent("acct_2", "b");
    expect(await counted("acct_2", "b")).to.include({ isNew: false });
  });

  it("counts a message once however often it is asked for, and keeps the hashes of an address's latest twenty", async () => {
    const ask = (n: number) => {
      const message = { accountId: `acct_${n}`, id: "cand_1", key: `message ${n}`, address: "a" };
      return budget.count(message, { ...LIMITS, perAddress: 100 }, "", START);
    };
    for (let n = 0; n < 30; n++) await ask(n);
    await ask(29);
    const [day] = await mongo.db.collection("mail_address_days").find().toArray();
    expect(day).to.include({ messages: 30 });
    expect(day?.["pending"]).to.have.length(20);
  });

  it("gives back what was not sent", async () => {
    for (let n = 0; n < 5; n++) {
      const message = await counted("acct_1", "a");
      expect(message, `try ${n}`).to.include({ isNew: true });
      await budget.uncount(message!);
    }
    expect(await budget.since(START)).to.deep.equal([
      { accountId: "acct_1", messages: 0, new_addresses: 0, opted_out: 0, bounced: 0 },
    ]);
  });

  it("takes an address for new again if its message was claimed, and the mail server did not take it", async () => {
    for (let n = 0; n < 3; n++) {
      const message = await counted("acct_1", "a");
      expect(message, `try ${n}`).to.include({ isNew: true });
      await budget.claimed(message!);
      await budget.uncount(message!);
    }
    await sent("acct_1", "a");
    const again = await counted("acct_1", "a");
    expect(again, "after it was sent").to.include({ isNew: false });
    await budget.claimed(again!);
    await budget.uncount(again!);
    expect(await counted("acct_1", "a"), "after a later message was not sent").to.include({ isNew: false });
  });

  it("tells what was sent since an hour, and what came of it", async () => {
    const later = START + HOUR;
    await sent("acct_1", "a");
    await sent("acct_1", "b", later);
    await budget.settle([{ ...(await counted("acct_1", "b", later))!, isBounced: true }]);
    await budget.optedOut("acct_1", later);
    expect(await budget.since(later)).to.deep.equal([
      { accountId: "acct_1", messages: 2, new_addresses: 1, opted_out: 1, bounced: 1 },
    ]);
    expect((await budget.since(START))[0]).to.include({ messages: 3, new_addresses: 2 });
  });
});
