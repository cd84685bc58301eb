import { mock } from "node:test";
import { expect } from "chai";
import { useAccounts } from "../accounts/support.ts";
import type { GrantService } from "../../src/grants/service.ts";
import { GrantCounters } from "../../src/limiter/grant-counters.ts";
import { ACCOUNT_REFUSAL_MS } from "../../src/limiter/refusal-cache.ts";
import { limiterOver, useTestRedis, raiseTo } from "../limiter/support.ts";
import { useAccount, useService } from "../support/use-service.ts";
import { newGrantRequest, newGrantService } from "./grant-service.ts";
import { termsOf } from "./support.ts";

const WAIT_MS = 50;

describe("a grant that is issued", () => {
  const accounts = useAccounts();
  const redis = useTestRedis();
  const counters = new GrantCounters(redis);
  let grants: GrantService;
  before(() => {
    ({ grants } = newGrantService(accounts, { counters, issueWaitMs: WAIT_MS }));
  });

  it("is filled only once no replica can repeat a refusal from the time before it was placed", async () => {
    const { request } = await newGrantRequest(accounts);
    let placedAt = Infinity;
    let filledAt = 0;
    const put = mock.method(counters, "put", async (grant: Parameters<GrantCounters["put"]>[0]) => {
      const isNew = await GrantCounters.prototype.put.call(counters, grant);
      placedAt = performance.now();
      return isNew;
    });
    const fill = mock.method(counters, "fillOnce", (grant: Parameters<GrantCounters["fillOnce"]>[0]) => {
      filledAt = performance.now();
      return GrantCounters.prototype.fillOnce.call(counters, grant);
    });
    await grants.create(request);
    put.mock.restore();
    fill.mock.restore();
    expect(filledAt - placedAt).to.be.above(WAIT_MS - 2); // timers may fire early
  });

  it("is shown by every response from then on, also by a replica that knew of no grants", async () => {
    const { accountId, request } = await newGrantRequest(accounts);
    const versionNow = async () => (await accounts.store.get(accountId)).version;
    const limiter = limiterOver(redis);
    const charged = async (accountVersion: number) => {
      const claim = { accountId, keyId: request.keyId, surface: "create", accountVersion } as const;
      const { verdict, grantRemaining } = await limiter.charge(claim);
      return [verdict, grantRemaining];
    };
    const before = await versionNow();
    await raiseTo(redis, accountId, before);
    expect(await charged(before)).to.deep.equal(["admitted", null]);
    await grants.create(request);
    expect(await charged(before)).to.deep.equal(["outdated", null]);
    expect(await charged(await versionNow())).to.deep.equal(["admitted", request.amount]);
  });
});

describe("a grant that an operator issues", () => {
  const service = useService();
  const account = useAccount(service);

  it("takes longer than a replica repeats the refusal of an account", async () => {
    const startedAt = performance.now();
    await service.operators.grants.create(termsOf(account.keyId, { amount: 5 }));
    expect(performance.now() - startedAt).to.be.above(ACCOUNT_REFUSAL_MS);
  });
});
