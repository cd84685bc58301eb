import { author } from "../support/records.ts";
import { expect } from "chai";
import { CandidateStore } from "../../src/candidates/store.ts";
import { SharedClock } from "../../src/infra/clock.ts";
import { useAccount, useOwnService } from "../support/use-service.ts";
import { candidateWithExpiry } from "./support.ts";

describe("the sweep of expiries, if the store refuses to write a candidate", () => {
  const service = useOwnService();
  const account = useAccount(service);
  const { client } = account;

  it("expires the others, and that one in a later run", async () => {
    const { mongo } = service.operators;
    const candidates = new CandidateStore(mongo, new SharedClock());
    const insert = (day: string, name: string) =>
      candidates.insert(candidateWithExpiry(account.id, day, { name }), author());
    const stateOf = async (id: string) => (await client.get(`/candidates/${id}`)).body.state;
    // The index refuses two candidates with the same name and version. The namesake has version 2, so Ann cannot get it.
    const unique = { account: 1, name: 1, version: 1 } as const;
    await mongo.db.collection("candidates").createIndex(unique, { unique: true });
    const ann = await insert("2090-01-28", "Ann");
    const bob = await insert("2090-01-29", "Bob");
    const namesake = await insert("2090-03-01", "Cid");
    await client.patch(`/candidates/${namesake.id}`, { name: "Ann" });

    const failure = await candidates.batches.expire("2090-01-30").catch((error: unknown) => error);
    expect(failure).to.include({ name: "MongoBulkWriteError" });
    expect([await stateOf(ann.id), await stateOf(bob.id)]).to.deep.equal(["completed", "action_required"]);

    await client.patch(`/candidates/${namesake.id}`, { name: "Cid" });
    expect(await candidates.batches.expire("2090-01-30")).to.equal(1);
    expect(await stateOf(ann.id)).to.equal("action_required");
  });
});
