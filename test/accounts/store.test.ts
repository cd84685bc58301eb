import { mock } from "node:test";
import { expect } from "chai";
import { Collection, type CommandStartedEvent } from "mongodb";
import { newAccount } from "../../src/accounts/account.ts";
import { newTypeId } from "../../src/infra/ids.ts";
import { useAccounts } from "./support.ts";

describe("AccountStore", () => {
  const accounts = useAccounts();

  it("yields accounts in the order of their ids, and few of them in one round trip", async () => {
    const ids = ["acct_3", "acct_1", "acct_2"];
    for (const id of ids) await accounts.store.insert(newAccount(id, "Acme", "2026-11-21T10:00:00.000Z"));
    const before = accounts.finds();
    const read: string[] = [];
    for await (const { _id } of accounts.store.list()) read.push(_id);
    expect(read).to.deep.equal(["acct_1", "acct_2", "acct_3"]);
    expect(accounts.finds() - before).to.equal(1);
  });

  it("reads when the keys that were asked for were last used, and no others", async () => {
    const [used, unused, other] = [newTypeId("key"), newTypeId("key"), newTypeId("key")];
    for (const id of [used, unused, other]) await accounts.store.addKey(id, newTypeId("acct"), `hash of ${id}`);
    const at = "2026-11-21T10:00:00.000Z";
    for (const id of [used, other]) await accounts.store.setLastUsed(id, at);
    expect(await accounts.store.lastUsed([used, unused])).to.deep.equal(
      new Map([
        [used, at],
        [unused, null],
      ]),
    );
  });

  it("drops the entries of one key, and leaves those of the others", async () => {
    const account = newTypeId("acct");
    const [first, dropped, last] = [newTypeId("key"), newTypeId("key"), newTypeId("key")];
    for (const id of [first, dropped, last]) await accounts.store.addKey(id, account, `hash of ${id}`);
    const left = async (collection: string) =>
      (await accounts.mongo.db.collection(collection).find({ account }).toArray()).map(({ _id }) => String(_id));
    await accounts.store.dropKey(dropped, `hash of ${dropped}`);
    expect(await left("keys")).to.have.members([first, last]);
    expect(await left("secrets")).to.have.members([`hash of ${first}`, `hash of ${last}`]);
  });

  it("fails if MongoDB fails to drop the entries of a key", async () => {
    const failing = mock.method(Collection.prototype, "deleteOne", () => Promise.reject(new Error("no disk space")));
    const error = await accounts.store.dropKey("key_1", "hash").catch((reason: unknown) => reason);
    failing.mock.restore();
    expect(error).to.be.an("error").with.property("message", "no disk space");
  });

  it("reads nothing but the ids of the secrets that were asked for", async () => {
    const [account, key] = [newTypeId("acct"), newTypeId("key")];
    for (const hash of ["a", "b", "c"]) await accounts.store.addSecret(hash, account, key);
    const sent: CommandStartedEvent["command"][] = [];
    const note = ({ commandName, command }: CommandStartedEvent) => {
      if (commandName === "find") sent.push(command);
    };
    accounts.mongo.client.on("commandStarted", note);
    const existing = await accounts.store.existingSecrets(["a", "none", "c"]);
    accounts.mongo.client.off("commandStarted", note);
    expect(existing).to.deep.equal(new Set(["a", "c"]));
    expect(sent).to.have.length(1);
    const { find, filter, projection, batchSize } = sent[0] ?? {};
    expect({ find, filter, projection, batchSize }).to.deep.equal({
      find: "secrets",
      filter: { _id: { $in: ["a", "none", "c"] } },
      projection: { _id: 1 },
      batchSize: 4, // all of them at once, and one more, which shows MongoDB that nothing follows
    });
  });
});
