import { expect } from "chai";
import { connectRedis, type RedisClient } from "../../src/infra/redis.ts";
import type { ChargeRequest, Decision } from "../../src/limiter/decision.ts";
import type { Limiter } from "../../src/limiter/limiter.ts";
import { LocalLimiter } from "../../src/limiter/local.ts";
import { startRedis } from "../support/servers.ts";
import { limiterOver, newCaller, problemOf } from "./support.ts";

const REPLICAS = 4;

describe("LIMITER_ON_OUTAGE=local", () => {
  let redis: RedisClient;
  let limiter: Limiter;
  before(async () => {
    const server = await startRedis();
    redis = await connectRedis({ url: server.url, timeoutMs: 1_000 });
    limiter = limiterOver(redis, { onOutage: "local", replicasExpected: REPLICAS });
    await server.stop();
  });
  after(() => redis.disconnect());

  const charge = (times: number, request: ChargeRequest): Promise<Decision[]> =>
    Promise.all(Array.from({ length: times }, () => limiter.charge(request)));
  const verdicts = (decisions: Decision[]): string[] => decisions.map(({ verdict }) => verdict);

  it("admits this replica's share of a key's limit, rounded down", async () => {
    const decisions = await charge(4, { ...newCaller(), surface: "start" });
    expect(verdicts(decisions)).to.deep.equal(["admitted", "admitted", "key_exhausted", "key_exhausted"]);
    expect(decisions[1]).to.deep.include({
      account: { limit: 5, remaining: 3 },
      key: { limit: 2, remaining: 0 },
      grantRemaining: null,
    });
  });

  it("checks the account first, and charges both windows or neither", async () => {
    const caller = newCaller();
    await charge(2, { ...caller, surface: "start" });
    await charge(3, { ...caller, surface: "start" }); // the last is refused, so it must not count for the account
    const second = newCaller(caller.accountId);
    expect(verdicts(await charge(2, { ...second, surface: "start" }))).to.deep.equal(["admitted", "admitted"]);
    const third = newCaller(caller.accountId);
    expect(verdicts(await charge(2, { ...third, surface: "start" }))).to.deep.equal(["admitted", "account_exhausted"]);
    expect((await limiter.charge({ ...caller, surface: "start" })).verdict).to.equal("account_exhausted"); // the key's own window is exhausted too
  });

  it("starts from zero in the next window", async () => {
    let now = Date.UTC(2026, 10, 1, 12, 59, 59, 500);
    const local = new LocalLimiter({ clock: { now: () => now }, windowSeconds: 3600, scale: 1, replicasExpected: 10 });
    const request = { ...newCaller(), surface: "start" } as const;
    expect((await local.charge(request)).verdict).to.equal("admitted");
    expect(await local.charge(request)).to.deep.include({ verdict: "key_exhausted", resetMs: 500 });
    now += 500;
    expect(await local.charge(request)).to.deep.include({ verdict: "admitted", resetMs: 3_600_000 });
  });

  it("answers 503 on a surface if the replica's share rounds down to zero", async () => {
    const local = new LocalLimiter({ clock: Date, windowSeconds: 3600, scale: 1, replicasExpected: 11 });
    expect(await problemOf(local.charge({ ...newCaller(), surface: "pack" }))).to.include({
      code: "limiter_unavailable",
    });
  });
});
