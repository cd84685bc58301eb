import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import { LastUsed } from "../../src/accounts/last-used.ts";
import { useService } from "../support/use-service.ts";

describe("when a key was last used", () => {
  it("is written once a minute and key, and again after it", async () => {
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

  it("is nobody's trouble where it cannot be written, and is not tried again at once", async () => {
    let tries = 0;
    const store = { setLastUsed: () => Promise.reject(new Error(`down ${++tries}`)) };
    const lastUsed = new LastUsed({ store, clock: Date, timer: { now: () => 0 } });
    for (let request = 0; request < 5; request++) lastUsed.note("key_a");
    await setImmediate(); // an unhandled rejection would end the run
    expect(tries).to.equal(1);
  });

  describe("through the front door", () => {
    const service = useService();

    it("is shown by the list of keys: never at first, then the time of a use, no time for a refused request", async () => {
      const account = await service.account();
      const { id, client } = account;
      const idle = await account.another();
      const { accounts } = service.operators;
      const shown = async () => new Map((await accounts.listKeys(id)).data.map((key) => [key.id, key.last_used_at]));
      expect([...(await shown()).values()]).to.deep.equal([null, null]);
      await accounts.revokeKey(idle.keyId);
      expect((await idle.client.get("/limits")).status).to.equal(401);
      const before = Date.now() - 2_000; // the service's clock follows Redis's, behind by as long as an answer took
      expect((await client.get("/candidates")).status).to.equal(200);
      let used: string | null | undefined = null;
      // The write is in the background: it is waited for as an operator would, by looking again.
      while (used === null) used = [...(await shown()).values()][0];
      expect(Date.parse(used ?? "")).to.be.within(before, Date.now());
      expect((await shown()).get(idle.keyId)).to.equal(null);
    });
  });
});
