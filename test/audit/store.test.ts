import { mock } from "node:test";
import { expect } from "chai";
import { Collection, type CommandStartedEvent } from "mongodb";
import { AuditStore } from "../../src/audit/store.ts";
import { newTypeId } from "../../src/infra/ids.ts";
import { useAccounts } from "../accounts/support.ts";

describe("AuditStore", () => {
  const accounts = useAccounts();
  let store: AuditStore;
  before(() => (store = new AuditStore(accounts.mongo)));

  const record = () => ({
    _id: newTypeId("audit"),
    at: "2026-11-21T10:00:00.000Z",
    actor: "ann",
    action: "keys revoke",
    account: newTypeId("acct"),
    subject: "key_1",
    details: {},
  });

  const errorOf = (work: Promise<void>) => work.catch((reason: unknown) => reason);

  it("fails if MongoDB fails to write a record, and writes no outcome then", async () => {
    const unwritten = record();
    const failing = mock.method(Collection.prototype, "insertOne", () => Promise.reject(new Error("no disk space")));
    const error = await errorOf(store.done(unwritten));
    failing.mock.restore();
    expect(error).to.be.an("error").with.property("message", "no disk space");
    const outcomes = accounts.mongo.db.collection<{ _id: string }>("audit_outcomes");
    expect(await outcomes.findOne({ _id: unwritten._id })).to.equal(null);
  });

  it("fails if MongoDB fails to write an outcome", async () => {
    const { _id, at } = record();
    const failing = mock.method(Collection.prototype, "insertOne", () => Promise.reject(new Error("no disk space")));
    const error = await errorOf(store.end({ _id, at, outcome: "done", reason: null }));
    failing.mock.restore();
    expect(error).to.be.an("error").with.property("message", "no disk space");
  });

  it("reads only the outcomes of the records that it returns", async () => {
    const [old, young] = [record(), { ...record(), at: "2026-11-21T10:00:00.001Z" }];
    for (const each of [old, young]) await store.done(each);
    const filters: unknown[] = [];
    const note = ({ commandName, command }: CommandStartedEvent) => {
      if (commandName === "find") filters.push([command["find"], command["filter"]]);
    };
    accounts.mongo.client.on("commandStarted", note);
    const newest = await store.newest(1);
    accounts.mongo.client.off("commandStarted", note);
    const outcome = { _id: young._id, at: young.at, outcome: "done", reason: null };
    expect(newest).to.deep.equal([{ record: young, outcome }]);
    expect(filters).to.deep.equal([
      ["audit", {}],
      ["audit_outcomes", { _id: { $in: [young._id] } }],
    ]);
  });
});
