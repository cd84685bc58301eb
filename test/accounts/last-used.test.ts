import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import { LastUsed } from "../../src/accounts/last-used.ts";
import { AccountStore } from "../../src/accounts/store.ts";
import { useService } from "../support/use-service.ts";

describe("LastUsed", () => {
  it("writes the time of each key at most once a minute", async () => {
    const written: string[] = [];
    let elapsedMs = 0;
    const store = { setLastUsed: async (keyId: string, at: string) => void written.push(`${keyId} ${at.slice(17)}`) };
    const lastUsed = new LastUsed({ store, clock: { now: () => elapsedMs }, timer: { now: () => elapsedMs } });
    for (const at of [0, 1, 59_999, 60_000, 60_001, 130_000]) {
      elapsedMs = at;
      for (const key of ["key_a", "key_a", "key_b"]) lastUsed.note(key);
    }
    expect(written).to.deep.equal(["00.000Z", "00.000Z", "10.000Z"].flatMap((at) => [`key_a ${at}`, `key_b ${at}`]));
  });

  it("ignores a failed write, and does not retry it at once", async () => {
    let attempts = 0;
    const store = { setLastUsed: () => Promise.reject(new Error(`down ${++attempts}`)) };
    const lastUsed = new LastUsed({ store, clock: Date, timer: { now: () => 0 } });
    for (let request = 0; request < 5; request++) lastUsed.note("key_a");
    await setImmediate(); // an unhandled rejection would end the run
    expect(attempts).to.equal(1);
  });

  describe("through the API", () => {
    const service = useService();

    it("never goes back: of two replicas, the one that writes last may have the earlier time", async () => {
      const { id, keyId } = await service.account();
      const store = new AccountStore(service.operators.mongo);
      const [earlier, later] = ["2026-11-23T09:00:00.000Z", "2026-11-23T09:00:01.000Z"];
      for (const at of [later, earlier]) await store.setLastUsed(keyId, at);
      expect((await service.operators.accounts.listKeys(id)).data[0]?.last_used_at).to.equal(later);
    });

    it("shows null in the list of keys, then the time of the last admitted request, and ignores refused ones", async () => {
      const account = await service.account();
      const { id, client } = account;
      const idle = await account.another();
      const { accounts } = service.operators;
      const shown = async () => new Map((await accounts.listKeys(id)).data.map((key) => [key.id, key.last_used_at]));
      expect([...(await shown()).values()]).to.deep.equal([null, null]);
      await accounts.revokeKey(idle.keyId);
      expect((await idle.client.get("/limits")).status).to.equal(401);
      const before = Date.now() - 2_000; // the service's clock lags behind Redis's by up to one response time
      expect((await client.get("/candidates")).status).to.equal(200);
      let used: string | null | undefined = null;
      // The write happens in the background, so poll the list as an operator would.
      while (used === null) used = [...(await shown()).values()][0];
      expect(Date.parse(used ?? "")).to.be.within(before, Date.now());
      expect((await shown()).get(idle.keyId)).to.equal(null);
    });
  });
});
