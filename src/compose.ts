import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import type Koa from "koa";
import type { Logger } from "pino";
import { Authenticator } from "./accounts/authenticate.ts";
import { GuessGuard } from "./accounts/guard.ts";
import type { Caller } from "./accounts/caller.ts";
import { LastUsed } from "./accounts/last-used.ts";
import { AccountService } from "./accounts/service.ts";
import { AccountStore } from "./accounts/store.ts";
import { createApp } from "./app.ts";
import { AuditStore } from "./audit/store.ts";
import { AuditTrail } from "./audit/trail.ts";
import { candidateEndpoints } from "./candidates/endpoints.ts";
import { CandidateService } from "./candidates/service.ts";
import { CandidateStore } from "./candidates/store.ts";
import type { Config } from "./config.ts";
import { ContentStore } from "./content/store.ts";
import { createLog } from "./api/access-log.ts";
import { documentEndpoints } from "./documents/endpoints.ts";
import { DocumentService } from "./documents/service.ts";
import type { Draining } from "./http/request.ts";
import type { RequestState } from "./api/state.ts";
import { IdempotentWork } from "./idempotency/once.ts";
import { IdempotencyStore } from "./idempotency/store.ts";
import { followRedis, SharedClock } from "./infra/clock.ts";
import { newTypeId } from "./infra/ids.ts";
import { connectMongo, type Mongo } from "./infra/mongo.ts";
import { connectRedis, type RedisClient } from "./infra/redis.ts";
import { limitsEndpoints } from "./limits/endpoints.ts";
import { GrantService } from "./grants/service.ts";
import { GrantRecords } from "./grants/store.ts";
import { GrantStore } from "./limiter/grant-counters.ts";
import { Limiter } from "./limiter/limiter.ts";
import { LimitsService } from "./limits/service.ts";
import { KeyStanding } from "./limiter/key-markers.ts";
import { type Usage, usage } from "./limiter/usage.ts";
import { outreachEndpoints } from "./outreach/endpoints.ts";
import { packEndpoints } from "./pack/endpoints.ts";
import { PackService } from "./pack/service.ts";
import { referenceEndpoints } from "./references/endpoints.ts";
import { ReferenceService } from "./references/service.ts";
import { settingsEndpoints } from "./settings/endpoints.ts";
import { SettingsService } from "./settings/service.ts";
import { SettingsStore } from "./settings/store.ts";
import { expiries } from "./sweeps/expiries.ts";
import { idempotencyRecords } from "./sweeps/idempotency-records.ts";
import { LeaseStore } from "./sweeps/lease-store.ts";
import { leftOverBytes } from "./sweeps/left-over-bytes.ts";
import { SweepRunner } from "./sweeps/runner.ts";

/** How far apart two replicas' clocks may be: they follow Redis's, so a round trip; this is far more. */
const CLOCK_SKEW_MS = 2_000;

/** The service, wired and connected. */
export interface System {
  readonly app: Koa<RequestState>;
  readonly log: Logger;
  readonly accounts: AccountService;
  readonly grants: GrantService;
  readonly mongo: Mongo;
  /** What the clock alone changes; one replica at a time does it. */
  readonly sweeps: SweepRunner;
  readonly draining: Draining;
  /** What a key and its account have used, without charging. One round trip. */
  readonly usage: (caller: Caller) => Promise<Usage>;
  /** Whether this replica can do its work now; each fault is a sentence. At most one round trip to each server. */
  readonly faults: () => Promise<string[]>;
  /** Lets go of Redis and MongoDB. */
  close(): Promise<void>;
}

/**
 * Connects, and makes every service once. Needs REDIS_URL and MONGODB_URL.
 * @throws where a server cannot be reached; no connection is then left open.
 */
export async function compose(config: Config, log: Logger = createLog(config.LOG_LEVEL)): Promise<System> {
  if (config.REDIS_URL === null || config.MONGODB_URL === null) throw new Error("REDIS_URL and MONGODB_URL are needed; `npm start` finds or starts both.");
  const mongo = await connectMongo({ url: config.MONGODB_URL, timeoutMs: config.STORE_TIMEOUT_MS, log });
  let redis: RedisClient | undefined;
  try {
    redis = await connectRedis({ url: config.REDIS_URL, timeoutMs: config.LIMITER_TIMEOUT_MS, log });
    return await wire({ config, log, mongo, redis });
  } catch (error) {
    redis?.disconnect();
    await mongo.close();
    throw error;
  }
}

/** The wiring diagram: by hand, in order. */
async function wire({ config, log, mongo, redis }: { config: Config; log: Logger; mongo: Mongo; redis: RedisClient }): Promise<System> {
  const clock = new SharedClock();
  const newId = newTypeId;

  const limits = {
    redis,
    windowSeconds: config.LIMIT_WINDOW_SECONDS,
    scale: config.LIMIT_SCALE,
    timeoutMs: config.LIMITER_TIMEOUT_MS,
  };
  const limiter = new Limiter({
    ...limits,
    clock,
    onOutage: config.LIMITER_ON_OUTAGE,
    replicasExpected: config.REPLICAS_EXPECTED,
  });
  await followRedis(clock, redis);
  const accountStore = new AccountStore(mongo);
  const standing = new KeyStanding(redis);
  const auditStore = new AuditStore(mongo);
  const audit = new AuditTrail({ store: auditStore, clock, newId, actor: "service" });
  const accounts = new AccountService({
    store: accountStore,
    standing,
    audit,
    clock,
    newId,
    random: randomBytes,
    activeKeyCap: config.ACTIVE_KEY_CAP,
  });
  const authenticator = new Authenticator({ store: accountStore, clock, guard: new GuessGuard(), freshMs: config.KEY_CACHE_SECONDS * 1000 });
  const lastUsed = new LastUsed({ store: accountStore, clock });
  const grantRecords = new GrantRecords(mongo);
  const grants = new GrantService({ accounts: accountStore, records: grantRecords, counts: new GrantStore(redis), audit, clock, newId });

  const candidateStore = new CandidateStore(mongo, clock);
  const content = new ContentStore(mongo, clock, candidateStore);
  const feedLagMs = config.STORE_TIMEOUT_MS + CLOCK_SKEW_MS;
  const candidates = new CandidateService({ store: candidateStore, content, clock, feedLagMs });
  const idempotencyStore = new IdempotencyStore(mongo);
  const idempotency = new IdempotentWork({ store: idempotencyStore, clock, random: randomBytes });
  const settings = new SettingsService({
    assistant: new SettingsStore(mongo, clock, "assistant_settings"),
    quietHours: new SettingsStore(mongo, clock, "quiet_hours_settings"),
    clock,
  });
  const packs = new PackService({ store: candidateStore, contents: content, accountName: async (id) => (await accountStore.get(id)).name, clock });
  const sweeps = new SweepRunner({
    sweeps: [expiries(candidateStore, clock), leftOverBytes(content), idempotencyRecords(idempotencyStore, clock)],
    leases: new LeaseStore({ mongo, clock, holder: `${hostname()}-${process.pid}`, skewMs: CLOCK_SKEW_MS }),
    log,
  });
  const collections = [candidateStore, content, auditStore, grantRecords, idempotencyStore];
  await Promise.all(collections.map((collection) => collection.prepare()));

  const draining: Draining = { started: false };
  const app = createApp({
    endpoints: [
      ...limitsEndpoints(new LimitsService(limits, accountStore)),
      ...candidateEndpoints(candidates),
      ...outreachEndpoints(candidates),
      ...documentEndpoints(new DocumentService(candidateStore, content)),
      ...referenceEndpoints(new ReferenceService(candidateStore)),
      ...packEndpoints(packs),
      ...settingsEndpoints(settings),
    ],
    authenticator,
    limiter,
    lastUsed,
    idempotency,
    newId,
    log,
    draining,
    bodyTimeoutMs: config.BODY_TIMEOUT_MS,
    maxFileBytes: config.MAX_DOCUMENT_BYTES,
    trustedProxies: config.TRUSTED_PROXIES,
  });
  return {
    app,
    log,
    accounts,
    grants,
    mongo,
    sweeps,
    draining,
    usage: (caller) => usage(limits, caller),
    async faults() {
      const checks = {
        redis: redis.ping(),
        mongodb: mongo.bounded((signal) => mongo.db.command({ ping: 1 }, { signal })),
      };
      const settled = await Promise.allSettled(Object.values(checks));
      return Object.keys(checks).filter((_, index) => settled[index]?.status === "rejected").map((name) => `${name} does not answer`);
    },
    async close() {
      redis.disconnect();
      await mongo.close();
    },
  };
}
