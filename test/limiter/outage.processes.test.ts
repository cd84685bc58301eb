import { once } from "node:events";
import { setImmediate, setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { connectRedis, type RedisClient } from "../../src/infra/redis.ts";
import { AccountVersions } from "../../src/limiter/account-versions.ts";
import { ledgerFields, redisKeys } from "../../src/limiter/scripts.ts";
import type { ChargeRequest } from "../../src/limiter/decision.ts";
import type { Limiter } from "../../src/limiter/limiter.ts";
import { readUsage } from "../../src/limiter/usage.ts";
import { waitedForCpuMs } from "../support/cpu-time.ts";
import { useRedisClient, useRedisServer } from "../support/servers.ts";
import { useProxy } from "./proxy.ts";
import { clearOfMidnight, limiterOver, newCaller, problemOf } from "./support.ts";

const TIMEOUT_MS = 200;
/** Maximum delay of a refusal beyond TIMEOUT_MS, in milliseconds. Without a timer of its own, the limiter would take 1 s. */
const LATE_MS = 400;
const RECOVERY_MS = 2_000;

describe("the limiter during a Redis outage", function () {
  this.timeout(60_000);
  const server = useRedisServer();
  const proxy = useProxy(server);
  const redis = useRedisClient(proxy, TIMEOUT_MS);
  const operator = useRedisClient(server); // connected directly, not through the proxy
  let limiter: Limiter;
  let patient: Limiter; // the same connection with a long timeout, for charges that must succeed
  before(async () => {
    limiter = limiterOver(redis, { timeoutMs: TIMEOUT_MS });
    patient = limiterOver(redis);
    await clearOfMidnight(operator);
  });

  it("responds with 503 at once while Redis is down, and recovers when it is back", async () => {
    await server.kill();
    for (let i = 0; i < 5; i++) {
      const { message } = (await expectUnavailable(newRequest())).cause as Error;
      expect(message).not.to.include("did not answer within"); // it fails at once, without waiting for the timeout
    }
    await server.restart();
    await expectRecovery(newRequest());
  });

  it("responds with 503 in time while Redis hangs, and never charges those requests", async () => {
    const request = newRequest();
    await limiter.charge(request);
    server.pause();
    const refused = Array.from({ length: 20 }, (_, i) => setTimeout(10 * i).then(() => expectUnavailable(request)));
    await Promise.all(refused).finally(() => server.resume());
    await expectRecovery(request);
    expect(await used(request)).to.deep.equal({ account: 2, key: 2 });
  });

  it("does not mistake a busy event loop for an outage", async () => {
    await limiterOver(operator).charge(newRequest()); // Redis then has the script
    const charged = limiterOver(operator, { timeoutMs: TIMEOUT_MS }).charge(newRequest());
    await setImmediate(); // the charge has been sent
    for (const until = performance.now() + 1_000; performance.now() < until;); // its reply waits in the socket's buffer
    expect((await charged).verdict).to.equal("admitted");
  });

  it("does not resend a charge whose reply was lost", async () => {
    const request = newRequest();
    proxy.loseAnswer = true;
    await expectUnavailable(request);
    await expectRecovery(request);
    expect(await used(request)).to.deep.equal({ account: 2, key: 2 }); // the charge whose reply was lost counted once
  });

  it("charges nothing for requests that reach Redis after their deadline", async () => {
    const request = newRequest();
    await limiter.charge(request);
    proxy.delayMs = 2 * TIMEOUT_MS;
    await Promise.all(Array.from({ length: 5 }, () => expectUnavailable(request)));
    proxy.delayMs = 0;
    await proxy.delivered();
    await expectRecovery(request);
    expect(await used(request)).to.deep.equal({ account: 2, key: 2 });
  });

  it("responds with 503, not 429, if Redis became a read-only replica, and reconnects to find the master", async () => {
    const exhausted = newRequest();
    await Promise.all(Array.from({ length: 10 }, () => patient.charge(exhausted)));
    expect((await patient.charge(exhausted)).verdict).to.equal("key_exhausted");
    await operator.replicaof("127.0.0.1", 1);
    const connectedAgain = once(redis, "ready");
    const { message } = (await expectUnavailable(exhausted)).cause as Error;
    expect(message).to.match(/^READONLY/);
    await connectedAgain;
    // A replica of Redis may lack the latest counts. So it must refuse to read them.
    const read = { redis: operator, windowSeconds: 86_400, scale: 1, timeoutMs: 5_000 };
    const operatorAgain = once(operator, "ready"); // the refused read makes this client look for the master too
    expect((await problemOf(readUsage(read, exhausted))).code).to.equal("limiter_unavailable");
    await operatorAgain;
    await operator.replicaof("NO", "ONE");
    expect((await patient.charge(exhausted)).verdict).to.equal("key_exhausted");
    await expectRecovery(newRequest());
  });

  it("responds with 503 if Redis is out of memory, and changes neither counter", async () => {
    const request = newRequest();
    await patient.charge(request);
    await operator.config("SET", "maxmemory", 1);
    await expectUnavailable(request);
    await operator.config("SET", "maxmemory", 0);
    expect(await used(request)).to.deep.equal({ account: 1, key: 1 });
    await expectRecovery(request);
  });

  it("keeps working while its scripts are flushed continuously, and charges each request once", async () => {
    const clients = await Promise.all(
      Array.from({ length: 5 }, () => connectRedis({ url: server.url, timeoutMs: 5_000 })),
    );
    const [asking, ...flushers] = clients as [RedisClient, ...RedisClient[]];
    const busy = limiterOver(asking, { scale: 100 });
    const request = { ...newCaller(), surface: "create" } as const;
    const lane = async () => {
      for (let n = 0; n < 100; n++) expect((await busy.charge(request)).verdict).to.equal("admitted");
    };
    let over = false;
    const flushing = flushers.map(async (flusher) => {
      while (!over) await flusher.script("FLUSH");
    });
    try {
      await Promise.all(Array.from({ length: 20 }, lane));
    } finally {
      over = true;
      await Promise.all(flushing);
      for (const client of clients) client.disconnect();
    }
    expect(await used(request)).to.deep.equal({ account: 2_000, key: 2_000 });
  });

  // More than the limit: only then are the grants drawn on.
  for (const [spoiled, cost] of [
    ["ledger", 1],
    ["grants", 201],
  ] as const) {
    it(`responds with 503 and charges nothing if the value of ${spoiled} has the wrong type`, async () => {
      const request = { ...newCaller(), surface: "create", cost } as const;
      const names = {
        ledger: redisKeys.ledger(request.accountId),
        grants: redisKeys.grants(request, "create"),
      };
      await operator.rpush(names[spoiled], "not this");
      const { message } = (await refusalBy(limiterOver(operator), request)).cause as Error;
      expect(message).to.match(/^WRONGTYPE/);
      expect(await operator.exists(...Object.values(names))).to.equal(1);
    });
  }

  it("responds with 503 and charges nothing if a count is not a number", async () => {
    const request = newRequest();
    const ledger = redisKeys.ledger(request.accountId);
    await limiterOver(operator).charge(request);
    await operator.hset(ledger, ledgerFields.key(request.keyId, "start"), "many");
    const before = await operator.hgetall(ledger);
    const { message } = (await refusalBy(limiterOver(operator), request)).cause as Error;
    expect(message).to.match(/arithmetic/);
    expect(await operator.hgetall(ledger)).to.deep.equal(before);
    const options = { redis: operator, windowSeconds: 86_400, scale: 1, timeoutMs: 5_000 };
    expect((await problemOf(readUsage(options, request))).code).to.equal("limiter_unavailable");
  });

  it("responds with 503 if a grant cannot be parsed, and names it", async () => {
    const request = { ...newRequest(), cost: 21 };
    await operator.hset(redisKeys.grants(request, "start"), "grant_1", "5:soon");
    const { message } = (await refusalBy(limiterOver(operator), request)).cause as Error;
    expect(message).to.match(/^CORRUPT grant grant_1/);
    expect(await used({ ...request, keyId: "another" })).to.deep.equal({ account: 0, key: 0 });
  });

  it("admits a request whose window has room even if its grants, which it would show, cannot be read", async () => {
    const request = newRequest();
    await operator.rpush(redisKeys.grants(request, "start"), "not this");
    expect(await limiterOver(operator).charge(request)).to.include({ verdict: "admitted", grantRemaining: null });
  });

  it("throws limiter_unavailable when a change is announced, a look-up is told or the usage is read", async () => {
    const { accountId, keyId } = newCaller();
    server.pause();
    const read = problemOf(
      readUsage({ redis, windowSeconds: 3600, scale: 1, timeoutMs: TIMEOUT_MS }, { accountId, keyId }),
    );
    const versions = new AccountVersions(redis);
    const raised = problemOf(versions.raise(accountId, { version: 2, begunMs: Date.now(), over: 0 }));
    const found = { version: 2, begunMs: Date.now(), timeoutMs: TIMEOUT_MS };
    const problems = [await read, await problemOf(versions.lookedUp(accountId, found)), await raised];
    expect(problems.map(({ code }) => code)).to.deep.equal(problems.map(() => "limiter_unavailable"));
    server.resume();
    await expectRecovery(newRequest());
  });

  function newRequest(): ChargeRequest {
    return { ...newCaller(), surface: "start" };
  }

  /** Expects a 503 with a Retry-After, within the bound. The time that this process waited for a CPU is taken off. */
  async function expectUnavailable(request: ChargeRequest) {
    const started = performance.now() - waitedForCpuMs(process.pid);
    const problem = await refusalBy(limiter, request);
    expect(performance.now() - waitedForCpuMs(process.pid) - started).to.be.below(TIMEOUT_MS + LATE_MS);
    return problem;
  }

  async function refusalBy(by: Limiter, request: ChargeRequest) {
    const problem = await problemOf(by.charge(request));
    expect(problem).to.include({ code: "limiter_unavailable", status: 503 });
    expect(problem.extras.headers).to.deep.equal({ "Retry-After": "1" });
    return problem;
  }

  /** Expects Redis to respond within two seconds and the first charge after that to be admitted. Makes one charge. */
  async function expectRecovery(request: ChargeRequest): Promise<void> {
    const deadline = performance.now() + RECOVERY_MS;
    // If Redis was killed, that also cut the operator's connection. Tests read over it what was charged.
    for (const client of [redis, operator]) {
      while (!(await client.ping().catch(() => false))) {
        expect(performance.now()).to.be.below(deadline);
        await setTimeout(5);
      }
    }
    expect((await patient.charge(request)).verdict).to.equal("admitted");
  }

  async function used(caller: ChargeRequest): Promise<{ account: number | undefined; key: number | undefined }> {
    const { surfaces } = await readUsage(
      { redis: operator, windowSeconds: 86_400, scale: 1, timeoutMs: 5_000 },
      caller,
    );
    const found = surfaces.find(({ surface }) => surface === caller.surface);
    return { account: found?.account.used, key: found?.key.used };
  }
});
