import { expect } from "chai";
import { SharedClock } from "../../src/infra/clock.ts";
import type { Mongo } from "../../src/infra/mongo.ts";
import type { Assistant } from "../../src/settings/schema.ts";
import { SettingsStore } from "../../src/settings/store.ts";
import { Client } from "../support/client.ts";
import { useAccount, useDatabase, useOwnService } from "../support/use-service.ts";

describe("a hundred concurrent changes of settings on two replicas", () => {
  const here = useOwnService({ LIMIT_SCALE: 100 });
  const there = useOwnService(() => ({ LIMIT_SCALE: 100, MONGODB_URL: here.config.MONGODB_URL ?? "" }));
  const account = useAccount(here);
  let clients: Client[];
  beforeEach(() => {
    clients = [here, there].map(({ url }) => new Client(url, account.key));
  });

  const patchHundredTimes = (path: string, patchOf: (n: number) => unknown, headers: Record<string, string> = {}) =>
    Promise.all(Array.from({ length: 100 }, (_, n) => clients[n % 2]!.patch(path, patchOf(n), headers)));

  it("are all applied", async () => {
    const path = "/settings/assistant";
    // The changes touch three fields in turn, and none may overwrite another field.
    const responses = await patchHundredTimes(path, (n) => ({
      [["display_name", "instructions", "reply_to"][n % 3]!]: n % 3 === 2 ? `a${n}@b.example` : `${n}`,
    }));
    expect(responses.map(({ status }) => status)).to.deep.equal(responses.map(() => 200));
    const versions = responses.map(({ body }) => body.version).toSorted((a, b) => a - b);
    expect(versions).to.deep.equal(Array.from({ length: 100 }, (_, n) => n + 1));
    const last = responses.find(({ body }) => body.version === 100);
    expect((await clients[0]!.get(path)).body).to.deep.equal(last?.body);
    // Each response shows its own change.
    for (const [n, { body }] of responses.entries())
      expect(Object.values(body)).to.include(n % 3 === 2 ? `a${n}@b.example` : `${n}`);
  });

  it("with the same If-Match are refused with 412, except one", async () => {
    const path = "/settings/quiet-hours";
    const seen = (await clients[0]!.get(path)).headers.get("etag") ?? "";
    const responses = await patchHundredTimes(path, (n) => ({ end: `07:${String(n % 60).padStart(2, "0")}` }), {
      "If-Match": seen,
    });
    const won = responses.filter(({ status }) => status === 200);
    expect(won).to.have.length(1);
    expect(responses.filter(({ status }) => status === 412)).to.have.length(99);
    expect((await clients[1]!.get(path)).body).to.deep.equal(won[0]?.body);
  });
});

describe("the first change of settings", () => {
  const mongo = useDatabase();

  it("is made after that of another replica that comes first, not in its place", async () => {
    const storeOf = (through: Mongo) => new SettingsStore<Assistant>(through, new SharedClock(), "assistant_settings");
    const { client, db } = mongo;
    let reads = 0;
    const bounded: Mongo["bounded"] = async (name, operation) => {
      const result = await mongo.bounded(name, operation);
      if (name === "find assistant_settings" && ++reads === 1)
        await storeOf(mongo).change("acct_1", ({ values }) => ({ ...values, display_name: "Ann" }));
      return result;
    };
    const through: Mongo = { client, db, bounded, isLate: () => false, close: () => mongo.close() };
    const changed = await storeOf(through).change("acct_1", ({ values }) => ({ ...values, instructions: "Be brief." }));
    expect(changed.version).to.equal(2);
    expect((await storeOf(mongo).get("acct_1")).values).to.deep.equal({
      display_name: "Ann",
      instructions: "Be brief.",
    });
  });
});
