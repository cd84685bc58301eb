import { expect } from "chai";
import { createIndexes } from "../../src/infra/indexes.ts";
import { newTypeId } from "../../src/infra/ids.ts";
import { type Usage, UsageStore } from "../../src/usage/store.ts";
import { useDatabase } from "../support/use-service.ts";

/** 2026-11-28T00:00Z */
const MIDNIGHT = 20_785 * 24;

describe("the store of usage", () => {
  const mongo = useDatabase();
  let store: UsageStore;
  let account: string;
  before(async () => {
    store = new UsageStore(mongo);
    await createIndexes(mongo.db, [store]);
  });
  beforeEach(() => void (account = newTypeId("acct")));

  const usage = (more: Partial<Usage> = {}): Usage => ({
    account,
    hour: MIDNIGHT,
    key_id: "key_a",
    surface: "list",
    used: 1,
    refused: 0,
    ...more,
  });
  const write = (counts: Usage[], writer = "one") => store.write(counts, `${account}-${writer}`);
  const found = async (from = MIDNIGHT, to = MIDNIGHT) =>
    (await store.ofAccount(account, from, to)).map(({ hour, key_id, surface, used, refused }) =>
      [hour - MIDNIGHT, key_id, surface, used, refused].join(" "),
    );

  it("counts a batch once, however often it is written, and ignores one that arrives late", async () => {
    const batch = [usage({ used: 3 }), usage({ key_id: "key_b", used: 0, refused: 2 })];
    await write(batch);
    await write([usage({ used: 5, refused: 1 })]);
    for (let n = 0; n < 2; n++) await write(batch);
    expect(await found()).to.have.members(["0 key_a list 5 1", "0 key_b list 0 2"]);
  });

  it("adds up what each process counted, of a key and of an account", async () => {
    await write([usage({ used: 3 }), usage({ key_id: "key_b", refused: 2 }), usage({ surface: "reads", used: 9 })]);
    await write([usage({ used: 4 })], "two");
    expect(await found()).to.deep.equal(["0 key_a list 7 0", "0 key_b list 1 2", "0 key_a reads 9 0"]);
    const ofAccount = async (surface?: string) =>
      (await store.inHour(MIDNIGHT, surface)).filter(({ _id }) => _id === account);
    expect(await ofAccount()).to.deep.equal([{ _id: account, used: 17, refused: 2 }]);
    expect(await ofAccount("list")).to.deep.equal([{ _id: account, used: 8, refused: 2 }]);
  });

  it("finds the hours that are asked for, on both sides of midnight, and no other account's", async () => {
    await write([-2, -1, 0, 1, 24].map((hour) => usage({ hour: MIDNIGHT + hour, used: 10 + hour })));
    await write([usage({ account: newTypeId("acct"), key_id: "key_b", used: 99 })]);
    expect(await found(MIDNIGHT - 1, MIDNIGHT + 1)).to.deep.equal([
      "-1 key_a list 9 0",
      "0 key_a list 10 0",
      "1 key_a list 11 0",
    ]);
  });

  it("keeps usage for 30 days", async () => {
    const hours = [30 * 24 + 1, 30 * 24, 29, 0];
    await write(hours.map((hour) => usage({ hour: MIDNIGHT - hour })));
    const removed = (stop: AbortSignal) => store.removeOld(MIDNIGHT * 3_600_000 + 5, stop);
    expect(await removed(AbortSignal.abort()), "while the replica stops").to.equal(0);
    expect(await removed(new AbortController().signal)).to.be.at.least(1);
    const kept = (await store.ofAccount(account, MIDNIGHT - 40 * 24, MIDNIGHT)).map(({ hour }) => MIDNIGHT - hour);
    expect(kept).to.deep.equal([30 * 24, 29, 0]);
  });
});
