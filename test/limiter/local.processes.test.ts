import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { connectRedis, type RedisClient } from "../../src/infra/redis.ts";
import type { ChargeRequest, Decision } from "../../src/limiter/decision.ts";
import type { Limiter } from "../../src/limiter/limiter.ts";
import { localLimiter } from "../../src/limiter/local.ts";
import { startRedis, useRedisClient, useRedisServer } from "../support/servers.ts";
import { useProxy } from "./proxy.ts";
import { limiterOver, newCaller, problemOf } from "./support.ts";

const REPLICAS = 4;

const TIMEOUT_MS = 500;

/** Charges until the limiter decides without Redis. Resolves with how many charges it refused with 503 before. */
async function untilLocal(limiter: Limiter): Promise<number> {
  for (let refused = 0; ; refused++) {
    const decision = await limiter.charge({ ...newCaller(), surface: "start" }).catch(() => undefined);
    if (decision !== undefined) return refused;
    await setTimeout(20);
  }
}

describe("LIMITER_ON_OUTAGE=local", () => {
  let redis: RedisClient;
  let limiter: Limiter;
  before(async () => {
    const server = await startRedis();
    redis = await connectRedis({ url: server.url, timeoutMs: 1_000 });
    limiter = limiterOver(redis, { onOutage: "local", replicasExpected: REPLICAS });
    await server.stop();
    await untilLocal(limiter);
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

  it("starts from zero in the next window", () => {
    let now = Date.UTC(2026, 10, 1, 12, 59, 59, 500);
    const local = localLimiter({ clock: { now: () => now }, windowSeconds: 3600, scale: 1, replicasExpected: 10 });
    const request = { ...newCaller(), surface: "start" } as const;
    expect(local(request).verdict).to.equal("admitted");
    expect(local(request)).to.deep.include({ verdict: "key_exhausted", resetMs: 500 });
    now += 500;
    expect(local(request)).to.deep.include({ verdict: "admitted", resetMs: 3_600_000 });
    now += 3_600_000; // the account's share of a window is two
    expect(local(request)).to.deep.include({ verdict: "admitted", account: { limit: 2, remaining: 1 } });
    now -= 3_600_000; // the clock is put back: the window has been used up already
    expect(local(request).verdict).to.equal("key_exhausted");
  });

  it("responds with 503 on a surface if the replica's share rounds down to zero", async () => {
    const local = localLimiter({ clock: Date, windowSeconds: 3600, scale: 1, replicasExpected: 11 });
    const charge = async () => local({ ...newCaller(), surface: "pack" });
    expect(await problemOf(charge())).to.include({ code: "limiter_unavailable" });
  });
});

describe("LIMITER_ON_OUTAGE=local falls back", function () {
  this.timeout(30_000);
  const server = useRedisServer();
  const proxy = useProxy(server);
  const redis = useRedisClient(proxy);
  let limiter: Limiter;
  let patient: Limiter;
  before(() => void (patient = limiterOver(redis)));
  beforeEach(() => {
    limiter = limiterOver(redis, { onOutage: "local", replicasExpected: REPLICAS, timeoutMs: TIMEOUT_MS });
  });

  const request = () => ({ ...newCaller(), surface: "start" }) as const;
  /** A limit of Redis's is 10, one of a replica's share is 2. */
  const decidedBy = async () => ((await limiter.charge(request())).key.limit === 10 ? "Redis" : "the replica");
  const refused = async () => expect(await problemOf(limiter.charge(request()))).to.include({ status: 503 });

  it("after no slow call among good ones, however often one is slow: each is 503", async () => {
    const until = performance.now() + 5 * TIMEOUT_MS;
    while (performance.now() < until) {
      expect(await decidedBy()).to.equal("Redis");
      proxy.swallow("toClient");
      await Promise.all([refused(), refused(), refused(), refused()]);
      proxy.mend();
      await proxy.delivered();
      await patient.charge(request()); // the connection is free again
    }
  });

  it("not before a second of silence, however many charges fail, and then for as long as the outage lasts", async () => {
    expect(await decidedBy()).to.equal("Redis");
    proxy.swallow("toClient");
    const started = performance.now();
    await Promise.all(Array.from({ length: 20 }, refused));
    await untilLocal(limiter);
    expect(performance.now() - started).to.be.within(1_000, 5_000);
    expect(await decidedBy()).to.equal("the replica");
    proxy.mend();
    await recovered();
    expect(await decidedBy()).to.equal("Redis");
  });

  it("within two seconds once no connection is left, and returns with the first reply", async () => {
    proxy.refuse();
    const started = performance.now();
    await untilLocal(limiter);
    expect(performance.now() - started).to.be.within(1_000, 3_000);
    proxy.mend();
    await recovered();
    expect(await decidedBy()).to.equal("Redis");
    proxy.loseAnswer = true;
    await refused();
  });

  async function recovered(): Promise<void> {
    while ((await redis.ping().catch(() => undefined)) === undefined) await setTimeout(10);
    await patient.charge(request());
  }
});
