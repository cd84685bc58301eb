import { expect } from "chai";
import type { AccountRecord } from "../../src/accounts/account.ts";
import type { Caller } from "../../src/accounts/caller.ts";
import type { RedisClient } from "../../src/infra/redis.ts";
import { ANY_VERSION, charge, NEVER } from "../../src/limiter/scripts.ts";
import { useTestRedis } from "../limiter/support.ts";
import { useAccounts } from "./support.ts";

/** Redis keeps its markers when MongoDB is restored. They then come from newer records than the store has. */
describe("a command after MongoDB was restored from a backup", () => {
  const accounts = useAccounts();
  const redis = useTestRedis();

  /** An account with one key, as the backup has it. `restore` puts that record back. */
  async function backedUp() {
    const { id: accountId } = await accounts.service.createAccount({ name: "Acme" });
    const { id: keyId } = await accounts.service.createKey({ accountId, name: "ats" });
    const backup = await accounts.store.get(accountId);
    const records = accounts.mongo.db.collection<AccountRecord>("accounts");
    const restore = () => records.replaceOne({ _id: accountId }, backup);
    return { caller: { accountId, keyId }, restore };
  }

  it("ends a suspension that Redis still has", async () => {
    const { caller, restore } = await backedUp();
    await accounts.service.suspendAccount(caller.accountId);
    await restore();
    await accounts.service.resumeAccount(caller.accountId);
    expect(await verdict(redis, caller)).to.equal("admitted");
  });

  it("suspends an account that was resumed after the backup", async () => {
    const { caller, restore } = await backedUp();
    await accounts.service.suspendAccount(caller.accountId);
    await accounts.service.resumeAccount(caller.accountId);
    await restore();
    await accounts.service.suspendAccount(caller.accountId);
    expect(await verdict(redis, caller)).to.equal("suspended");
  });

  it("rotates a key, so that replicas need not look it up again for what the backup does not have", async () => {
    const { caller, restore } = await backedUp();
    const { accountId, keyId } = caller;
    await accounts.service.rotateKey({ keyId, graceSeconds: 60 });
    await accounts.service.rotateKey({ keyId, graceSeconds: 60 });
    await restore();
    await accounts.service.rotateKey({ keyId, graceSeconds: 60 });
    const { version } = await accounts.store.get(accountId);
    expect(await verdict(redis, caller, version)).to.equal("admitted");
    expect(await verdict(redis, caller, version - 1)).to.equal("outdated");
  });

  it("revokes a key again", async () => {
    const { caller, restore } = await backedUp();
    await accounts.service.revokeKey(caller.keyId);
    await restore();
    await accounts.service.revokeKey(caller.keyId);
    expect(await verdict(redis, caller)).to.equal("revoked");
  });
});

async function verdict(redis: RedisClient, caller: Caller, accountVersion = ANY_VERSION): Promise<string> {
  const limits = { account: 100, key: 100 };
  const call = { caller, surface: "reads", limits, windowSeconds: 3600, cost: 1, deadlineMs: 0 } as const;
  return (await charge(redis, { ...call, accountVersion, secretEndsAt: NEVER })).verdict;
}
