import { mock } from "node:test";
import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { AccountStore } from "../../src/accounts/store.ts";
import { asking } from "../infra/redis-forms.ts";
import { useRedisServer } from "../support/servers.ts";
import { useAccount, useOwnService } from "../support/use-service.ts";

describe("a key that nobody changes", () => {
  const redis = useRedisServer();
  const service = useOwnService(() => ({ REDIS_URL: redis.url }));
  const account = useAccount(service);
  let lookups: ReturnType<typeof mock.method<AccountStore, "findBySecret">>;
  beforeEach(() => {
    lookups = mock.method(AccountStore.prototype, "findBySecret");
  });
  afterEach(() => lookups.mock.restore());

  /** Sends a request to each kind of route. Returns the statuses that are not 200, and how many look-ups it took. */
  const requests = async () => {
    const before = lookups.mock.callCount();
    const failed: number[] = [];
    for (const path of ["/candidates", "/limits", "/settings/assistant", "/candidates"]) {
      const { status } = await account.client.get(path);
      if (status !== 200) failed.push(status);
    }
    return { failed, lookups: lookups.mock.callCount() - before };
  };

  it("is looked up once, and again after the connection to Redis was lost", async () => {
    expect(await requests()).to.deep.equal({ failed: [], lookups: 1 });
    expect(await requests()).to.deep.equal({ failed: [], lookups: 0 });
    await service.operators.accounts.createAccount({ name: "Another" });
    expect(await requests()).to.deep.equal({ failed: [], lookups: 0 });
    await asking(redis.url, (own) => own.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"));
    // No event of the service says when it is connected again. Until then requests fail.
    const isAway = async () => (await account.client.get("/candidates")).status === 503;
    while (await isAway()) await setTimeout(5);
    await requests();
    expect(lookups.mock.callCount()).to.equal(2);
    expect(await requests()).to.deep.equal({ failed: [], lookups: 0 });
  });

  it("is looked up again, and is charged from zero, after Redis has lost its data", async () => {
    await requests();
    await asking(redis.url, (own) => own.flushall());
    expect(await requests()).to.deep.equal({ failed: [], lookups: 1 });
    expect(await account.used()).to.deep.equal({ list: 2, reads: 1 });
  });

  it("is looked up once more by its next request, and not again, after a command for its account", async () => {
    await requests();
    const { accounts } = service.operators;
    await accounts.setStatus(account.id, "suspended");
    await accounts.setStatus(account.id, "active");
    expect(await requests()).to.deep.equal({ failed: [], lookups: 1 });
    await accounts.setStatus(account.id, "active");
    expect(await requests(), "nothing was changed").to.deep.equal({ failed: [], lookups: 0 });
  });
});
