import { expect } from "chai";
import type { CommandStartedEvent } from "mongodb";
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
    await accounts.store.setLastUsed(new Map([used, other].map((id) => [id, at])));
    expect(await accounts.store.lastUsed([used, unused])).to.deep.equal(
      new Map([
        [used, at],
        [unused, null],
      ]),
    );
  });

  it("never sets an earlier time: of two replicas, the one that writes last may have it", async () => {
    const id = newTypeId("key");
    await accounts.store.addKey(id, newTypeId("acct"), `hash of ${id}`);
    const [earlier, later] = ["2026-11-23T09:00:00.000Z", "2026-11-23T09:00:01.000Z"];
    for (const at of [later, earlier]) await accounts.store.setLastUsed(new Map([[id, at]]));
    expect(await accounts.store.lastUsed([id])).to.deep.equal(new Map([[id, later]]));
  });

  it("sets when 1,001 keys were last used in two commands, and skips a key that is gone", async () => {
    const [first, last] = [newTypeId("key"), newTypeId("key")];
    for (const id of [first, last]) await accounts.store.addKey(id, newTypeId("acct"), `hash of ${id}`);
    const at = "2026-11-21T10:00:00.000Z";
    const gone = Array.from({ length: 999 }, () => newTypeId("key"));
    const sent: [number, boolean][] = [];
    const note = ({ commandName, command }: CommandStartedEvent) => {
      if (commandName === "update")
        sent.push([(command["updates"] as unknown[]).length, command["ordered"] as boolean]);
    };
    accounts.mongo.client.on("commandStarted", note);
    await accounts.store.setLastUsed(new Map([first, ...gone, last].map((id) => [id, at])));
    accounts.mongo.client.off("commandStarted", note);
    expect(sent).to.deep.equal([
      [1_000, false],
      [1, false],
    ]);
    expect(await accounts.store.lastUsed([first, last, ...gone])).to.deep.equal(
      new Map([
        [first, at],
        [last, at],
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

  it("finds those of the secrets that exist in one round trip", async () => {
    const [account, key] = [newTypeId("acct"), newTypeId("key")];
    for (const hash of ["a", "b", "c"]) await accounts.store.addSecret(hash, account, key);
    const before = accounts.finds();
    expect(await accounts.store.existingSecrets(["a", "none", "c"])).to.deep.equal(new Set(["a", "c"]));
    expect(accounts.finds() - before).to.equal(1);
  });
});
