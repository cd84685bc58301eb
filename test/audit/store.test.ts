import { mock } from "node:test";
import { expect } from "chai";
import { Collection, type CommandStartedEvent } from "mongodb";
import { AuditStore } from "../../src/audit/store.ts";
import { SharedClock } from "../../src/infra/clock.ts";
import { newTypeId } from "../../src/infra/ids.ts";
import { createIndexes } from "../../src/infra/indexes.ts";
import { useAccounts } from "../accounts/support.ts";
import { eventOf } from "./support.ts";

describe("AuditStore", () => {
  const accounts = useAccounts();
  /** As in a process of its own. */
  const open = (now: () => number = () => new SharedClock().now()) => new AuditStore(accounts.mongo, { now });
  before(() => createIndexes(accounts.mongo.db, [open()]));

  async function entriesOf(account: string) {
    const found = [];
    for await (const entry of open().entries({ account })) found.push(entry);
    return found;
  }

  it("fails if MongoDB fails to write an entry, and writes the next one in its place", async () => {
    const account = newTypeId("acct");
    const store = open();
    const failing = mock.method(Collection.prototype, "insertMany", () => Promise.reject(new Error("no disk space")));
    const error = await store.append([eventOf(account)]).catch((reason: unknown) => reason);
    failing.mock.restore();
    expect(error).to.be.an("error").with.property("message", "no disk space");
    await store.append([eventOf(account)]);
    expect((await entriesOf(account)).map(({ seq }) => seq)).to.deep.equal([1]);
  });

  it("reads only the ends of the entries that it returns", async () => {
    const account = newTypeId("acct");
    const [old, young] = [eventOf(account, { outcome: null }), eventOf(account, { outcome: null })];
    for (const each of [old, young]) await open().append([each]);
    const filters: unknown[] = [];
    const note = ({ commandName, command }: CommandStartedEvent) => {
      if (commandName === "find") filters.push([command["find"], command["filter"]]);
    };
    accounts.mongo.client.on("commandStarted", note);
    const newest = await open().newest(1, account);
    accounts.mongo.client.off("commandStarted", note);
    expect(newest.map(({ record, end }) => [record._id, end])).to.deep.equal([[young._id, undefined]]);
    expect(filters).to.deep.equal([
      ["audit", { ms: null }], // those of an earlier release
      ["audit", { account: { $eq: account }, of: null }],
      ["audit", { _id: { $in: [`${young._id}_end`] } }],
      ["audit_outcomes", { _id: { $in: [young._id] } }],
    ]);
  });

  it("counts the entries of an account without gaps, however many processes append at once, and each id once", async () => {
    const account = newTypeId("acct");
    const shared = eventOf(account);
    const processes = Array.from({ length: 4 }, () => open());
    await Promise.all(
      processes.flatMap((store) => [
        store.append([eventOf(account), eventOf(account), shared, eventOf(account)]),
        store.append([eventOf(account), eventOf(newTypeId("acct"))]),
      ]),
    );
    const entries = await entriesOf(account);
    expect(entries.map(({ seq }) => seq)).to.deep.equal(Array.from({ length: 17 }, (_, n) => n + 1));
    expect(entries.map(({ previous }) => previous)).to.deep.equal([
      null,
      ...entries.slice(0, -1).map(({ hash }) => hash),
    ]);
  });

  it("gives no entry an earlier time than the one before it has", async () => {
    const account = newTypeId("acct");
    for (const now of [2_000, 1_000, 3_000]) await open(() => now).append([eventOf(account)]);
    expect((await entriesOf(account)).map(({ at }) => Date.parse(at))).to.deep.equal([2_000, 2_000, 3_000]);
  });

  it("reads every entry once, also if more than a page have one time, and goes on after each", async () => {
    const account = newTypeId("acct");
    const ids = Array.from({ length: 2_300 }, () => newTypeId("audit"));
    for (let n = 0; n < ids.length; n += 500)
      await open(() => 1_000).append(ids.slice(n, n + 500).map((_id) => ({ ...eventOf(account), _id })));
    await open(() => 2_000).append([eventOf(account)]);
    const entries = await entriesOf(account);
    expect(entries.slice(0, -1).map(({ _id }) => _id)).to.deep.equal(ids);
    const rest = [];
    for await (const { _id } of open().entries({ account, after: entries[1_500]! })) rest.push(_id);
    expect(rest).to.deep.equal(entries.slice(1_501).map(({ _id }) => _id));
  });
});
