import { expect } from "chai";
import { createIndexes } from "../../src/infra/indexes.ts";
import { newTypeId } from "../../src/infra/ids.ts";
import { oldUsage } from "../../src/sweeps/sweep.ts";
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

  const usage = (more: Partial<Usage & { writer: string }> = {}) => ({
    account,
    hour: MIDNIGHT,
    keyId: "key_a",
    surface: "list" as const,
    used: 1,
    refused: 0,
    writer: "one-0",
    ...more,
  });
  const found = async (from = MIDNIGHT, to = MIDNIGHT) =>
    (await store.find([account], from, to)).map(({ hour, keyId, surface, used, refused }) =>
      [hour - MIDNIGHT, keyId, surface, used, refused].join(" "),
    );

  it("counts a batch once, however often it is written, and ignores one that arrives late", async () => {
    const batch = [usage({ used: 3 }), usage({ keyId: "key_b", used: 0, refused: 2 })];
    await store.write(batch);
    await store.write([usage({ used: 5, refused: 1 })]);
    for (let n = 0; n < 2; n++) await store.write(batch);
    expect(await found()).to.have.members(["0 key_a list 5 1", "0 key_b list 0 2"]);
  });

  it("keeps what each process counted apart", async () => {
    await store.write([usage({ used: 3 }), usage({ used: 4, writer: "two-0" })]);
    expect(await found()).to.have.members(["0 key_a list 3 0", "0 key_a list 4 0"]);
  });

  it("finds the hours that are asked for, on both sides of midnight, and no other account's", async () => {
    await store.write([-2, -1, 0, 1, 24].map((hour) => usage({ hour: MIDNIGHT + hour, used: 10 + hour })));
    await store.write([usage({ account: newTypeId("acct"), used: 99 })]);
    expect(await found(MIDNIGHT - 1, MIDNIGHT + 1)).to.have.members([
      "-1 key_a list 9 0",
      "0 key_a list 10 0",
      "1 key_a list 11 0",
    ]);
  });

  it("keeps usage for 30 days, and until the end of a day", async () => {
    const days = [31, 30, 29, 0];
    await store.write(days.map((day) => usage({ hour: MIDNIGHT - 24 * day })));
    const clock = { now: () => (MIDNIGHT + 5) * 3_600_000 };
    const sweep = oldUsage(store, clock);
    expect(await sweep.run(AbortSignal.abort()), "while the replica stops").to.equal(0);
    expect(await sweep.run(new AbortController().signal)).to.be.at.least(1);
    const hours = (await store.find([account], MIDNIGHT - 40 * 24, MIDNIGHT)).map(({ hour }) => (MIDNIGHT - hour) / 24);
    expect(hours).to.have.members([30, 29, 0]);
  });
});
