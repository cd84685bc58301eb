/**
 * The service with one more endpoint, GET /nothing, which does no work and charges `reads`. Wired as compose.ts wires it.
 * LOG_LEVEL is read from the environment, as by the service.
 */
import { randomBytes } from "node:crypto";
import { Type } from "typebox";
import { Authenticator } from "../../../src/accounts/authenticate.ts";
import { GuessLimiter } from "../../../src/accounts/guess-limiter.ts";
import { AccountStore } from "../../../src/accounts/store.ts";
import { endpoint, route } from "../../../src/api/endpoint.ts";
import { createApp } from "../../../src/app.ts";
import { readConfig } from "../../../src/config.ts";
import { idempotencyService } from "../../../src/idempotency/idempotency.ts";
import { IdempotencyStore } from "../../../src/idempotency/store.ts";
import { followRedis, SharedClock } from "../../../src/infra/clock.ts";
import { newTypeId } from "../../../src/infra/ids.ts";
import { createLog } from "../../../src/infra/log.ts";
import { Metrics } from "../../../src/infra/metrics.ts";
import { connectMongo } from "../../../src/infra/mongo.ts";
import { RedisEpoch } from "../../../src/infra/redis-epoch.ts";
import { connectRedis } from "../../../src/infra/redis.ts";
import { AccountVersions } from "../../../src/limiter/account-versions.ts";
import { Limiter } from "../../../src/limiter/limiter.ts";
import { limitsOf, PER_KEY } from "../../../src/limiter/surfaces.ts";
import { UsageCounter } from "../../../src/usage/counter.ts";
import { UsageStore } from "../../../src/usage/store.ts";
import { DECIDES_ALL, NOTHING, readSettings, serve } from "./serve.ts";

const settings = readSettings();
const config = readConfig(process.env);
const log = createLog(config.LOG_LEVEL);
const metrics = new Metrics();
const mongo = await connectMongo({ url: settings.mongodbUrl, timeoutMs: config.STORE_TIMEOUT_MS, log, metrics });
const redis = await connectRedis({ url: settings.redisUrl, timeoutMs: config.LIMITER_TIMEOUT_MS, log });
const clock = new SharedClock();
await followRedis(clock, redis);
const accounts = new AccountStore(mongo);
const epoch = new RedisEpoch(redis);
/** Acts like a connection that is lost and remade all the time. So the limiter never repeats a refusal: Redis decides each. */
const unsteady = {
  get changes() {
    return performance.now();
  },
  get connections() {
    return epoch.connections;
  },
};
const counter = new UsageCounter({ store: new UsageStore(mongo), accounts, log, clock, writer: newTypeId("req") });
counter.start();

const scale = settings.keyLimit / PER_KEY.reads;
const { account, key } = limitsOf("reads", scale);
if (account !== settings.accountLimit || key !== settings.keyLimit) throw new Error("The limits cannot be set.");

const nothing = endpoint({
  name: "nothing",
  tag: "Candidates",
  summary: "Do nothing",
  description: "Does nothing.",
  status: 200,
  response: Type.Object({ object: Type.String() }),
  problems: [],
  handle: async () => NOTHING,
});

await serve(
  createApp({
    pages: undefined,
    restore: new AbortController(),
    routes: [route("GET", "/nothing", "reads", nothing)],
    authenticator: new Authenticator({
      store: accounts,
      clock,
      guard: new GuessLimiter({ store: accounts }),
      versions: new AccountVersions(redis),
      epoch,
      timeoutMs: config.LIMITER_TIMEOUT_MS,
    }),
    outage: { check: () => undefined },
    candidates: { idOf: () => Promise.resolve(undefined) },
    limiter: new Limiter({
      redis,
      windowSeconds: settings.windowSeconds,
      scale,
      timeoutMs: config.LIMITER_TIMEOUT_MS,
      clock,
      onOutage: config.LIMITER_ON_OUTAGE,
      replicasExpected: config.REPLICAS_EXPECTED,
      metrics,
      connection: settings.name === DECIDES_ALL ? unsteady : epoch,
    }),
    counter,
    idempotency: idempotencyService({ store: new IdempotencyStore(mongo), clock, random: randomBytes }),
    newId: newTypeId,
    log,
    metrics,
    tracing: undefined,
    draining: { started: false },
    bodyTimeoutMs: config.BODY_TIMEOUT_MS,
    maxFileBytes: config.MAX_DOCUMENT_BYTES,
    trustedProxies: config.TRUSTED_PROXIES,
    logAddress: config.LOG_CLIENT_ADDRESS,
    reads: { note: () => undefined },
  }),
);
