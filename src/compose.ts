import cluster from "node:cluster";
import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { pid } from "node:process";
import { Authenticator } from "./accounts/authenticate.ts";
import { GuessLimiter } from "./accounts/guess-limiter.ts";
import { AccountStore } from "./accounts/store.ts";
import { createApp } from "./app.ts";
import { auditedReads } from "./audit/reads.ts";
import { AuditStore } from "./audit/store.ts";
import { bulkService } from "./candidates/bulk.ts";
import { Checkpoints, CheckpointStore, SETTLE_WITHIN_MS } from "./candidates/checkpoints.ts";
import { eraserOf } from "./candidates/eraser.ts";
import { datedBy } from "./candidates/erasure.ts";
import { candidateService } from "./candidates/service.ts";
import { CandidateStore } from "./candidates/store.ts";
import type { Config } from "./config.ts";
import { ContentStore } from "./content/store.ts";
import { documentService } from "./documents/service.ts";
import { GrantStore } from "./grants/store.ts";
import type { Draining } from "./http/request.ts";
import { idempotencyService } from "./idempotency/idempotency.ts";
import { IdempotencyStore } from "./idempotency/store.ts";
import { clockWatch } from "./infra/clock-watch.ts";
import { SharedClock } from "./infra/clock.ts";
import { checkSchemaVersion } from "./infra/schema-version.ts";
import { healthChecks } from "./infra/health.ts";
import { newTypeId } from "./infra/ids.ts";
import { prepareStores } from "./infra/indexes.ts";
import { connectMongo, type Mongo } from "./infra/mongo.ts";
import type { Tracing } from "./infra/otel.ts";
import { storeOutage } from "./infra/store-outage.ts";
import { RedisEpoch } from "./infra/redis-epoch.ts";
import { connectRedis } from "./infra/redis.ts";
import { Restore } from "./infra/restore.ts";
import type { Startup } from "./infra/startup.ts";
import { AccountVersions } from "./limiter/account-versions.ts";
import { Limiter } from "./limiter/limiter.ts";
import { exportExactness } from "./limits/exactness.ts";
import { packService } from "./pack/service.ts";
import { referenceService } from "./references/service.ts";
import { visitsOf } from "./reminders/pages/visits.ts";
import { outreachService } from "./reminders/service.ts";
import { openReminders, remindersOf, wireReminders } from "./reminders/wire.ts";
import { routes } from "./routes.ts";
import { retentionService } from "./settings/retention.ts";
import { RetentionStore } from "./settings/retention-store.ts";
import { settingsService } from "./settings/service.ts";
import { settingsStores } from "./settings/store.ts";
import { runners } from "./sweeps/runners.ts";
import { UsageCounter } from "./usage/counter.ts";
import { usageService } from "./usage/service.ts";
import { UsageStore } from "./usage/store.ts";
import { openWebhooks } from "./webhooks/wire.ts";

/** The service, wired and connected. */
export type System = Awaited<ReturnType<typeof compose>>;

/** Maximum clock skew between replicas, in milliseconds. Generous: clocks follow Redis's to within a round trip. */
export const CLOCK_SKEW_MS = 2_000;

/**
 * Connects, and creates every service once. Needs REDIS_URL and MONGODB_URL. Waits while a server does not respond.
 * @throws if one of them is not set, a server refuses the user, or the data has a form that this version does not know. No
 * connection is left open then.
 */
export async function compose(config: Config, startup: Startup) {
  const closers: (() => unknown)[] = [];
  return wire(config, startup, closers).catch(async (error: unknown) => {
    await closeAll(closers);
    throw error;
  });
}

/** Closes what was opened last first. */
async function closeAll(closers: readonly (() => unknown)[]): Promise<void> {
  for (const close of closers.toReversed()) await close();
}

/** Starts tracing if there is an endpoint. Otherwise returns undefined, and does not load the SDK. */
export async function startTracing(endpoint: string | null): Promise<Tracing | undefined> {
  return endpoint === null ? undefined : (await import("./infra/otel.ts")).startOtel();
}

/** Connects, and wires every room, in order. @param closers gets what closes what was opened. */
async function wire(config: Config, startup: Startup, closers: (() => unknown)[]) {
  const { MONGODB_URL, REDIS_URL, STORE_TIMEOUT_MS, LIMITER_TIMEOUT_MS: timeoutMs } = config;
  const unset = "REDIS_URL and MONGODB_URL are not set. Set both, or run npm start: it finds or starts the servers.";
  if (REDIS_URL === null || MONGODB_URL === null) throw new Error(unset);
  const { log, metrics } = startup;
  const outage = storeOutage(() => mongo, log);
  const database = { url: MONGODB_URL, timeoutMs: STORE_TIMEOUT_MS, log, metrics, outage };
  const mongo: Mongo = await startup.untilUp("mongodb", () => connectMongo(database));
  closers.push(() => mongo.close());
  closers.push(() => outage.stop());
  await startup.untilUp("mongodb", () => checkSchemaVersion(mongo));
  const redis = await startup.untilUp("redis", () => connectRedis({ url: REDIS_URL, timeoutMs, log }));
  closers.push(() => redis.disconnect());
  const tracing = await startTracing(config.OTEL_EXPORTER_OTLP_ENDPOINT);
  closers.push(() => tracing?.close());

  const clock = new SharedClock();
  const watch = clockWatch({ clock, redis, mongo, log, metrics });
  closers.push(() => watch.stop());
  await watch.start();
  const shared = { config, mongo, clock, skewMs: CLOCK_SKEW_MS, random: randomBytes, log, metrics };
  const { LIMIT_WINDOW_SECONDS: windowSeconds, LIMIT_SCALE: scale, LIMITER_ON_OUTAGE: onOutage } = config;
  const limits = { redis, windowSeconds, scale, timeoutMs, onOutage, replicasExpected: config.REPLICAS_EXPECTED };
  const epoch = new RedisEpoch(redis);
  const limiter = new Limiter({ ...limits, clock, metrics, connection: epoch });

  const restore = new Restore(mongo, newTypeId);
  closers.push(() => restore.stop());
  const tell = (isRestoring: boolean) => cluster.worker?.send({ isRestoring }, () => undefined);
  await startup.untilUp("mongodb", () => restore.watch({ ...shared, redis, tell }));

  const accounts = new AccountStore(mongo);
  const guard = new GuessLimiter({ store: accounts });
  const versions = new AccountVersions(redis);
  const authenticator = new Authenticator({ store: accounts, clock: clock.redis, guard, versions, epoch, timeoutMs });
  const holder = `${hostname()}-${pid}`;
  const writer = `${holder}-${newTypeId("req")}`;
  const usage = new UsageStore(mongo);
  const counter = new UsageCounter({ store: usage, accounts, log, clock, writer });
  metrics.readRefused = () => counter.mostRefused();

  const content = new ContentStore(mongo, clock);
  const idempotencyStore = new IdempotencyStore(mongo);
  const idempotency = idempotencyService({ store: idempotencyStore, clock, random: randomBytes });
  const audit = new AuditStore(mongo, clock);
  const reads = auditedReads(audit, clock, log);
  const reminders = await startup.untilUp("mongodb", () => openReminders({ ...shared, accounts, restore }));
  const rules = new RetentionStore(mongo, clock, config.RETENTION_NOTICE_HOURS);
  await startup.untilUp("mongodb", () => rules.all());
  closers.push(rules.watch());
  const store = new CandidateStore(mongo, clock, remindersOf(reminders, !startup.isPatient), log, datedBy(rules.of));
  const { feedClock, inFlight, reader, history, changedAccounts: changed } = store;
  metrics.readFeed = () => inFlight.state();
  metrics.readUnreadable = () => reader.unreadable().length;
  const marks = new CheckpointStore(mongo);
  const checkpoints = new Checkpoints({ ...shared, store: marks, clock: feedClock, writer, inFlight, changed });
  const feedLagMs = config.STORE_TIMEOUT_MS + CLOCK_SKEW_MS;
  const of = { accounts, audit, idempotency, changed, checkpoints, newId: newTypeId };
  const webhooks = openWebhooks({ ...shared, ...of });
  const eraser = eraserOf({ store, content, idempotency, audit, messages: reminders.stores });
  const grants = new GrantStore(mongo);
  const stores = [reader, history, content, idempotencyStore, audit, grants, reminders.stores, usage, webhooks];
  await startup.untilUp("mongodb", () => prepareStores(stores, database));
  await startup.untilUp("mongodb", () => checkpoints.start());
  const sending = wireReminders(reminders, { candidates: store, log, metrics });

  const health = healthChecks({ mongo, redis, metrics, log });
  closers.push(() => health.stop());
  health.watch();
  exportExactness(mongo, clock, metrics);
  counter.start();

  const documents = documentService(store, content);
  const candidates = candidateService({ store, content, clock, feedLagMs, checkpoints });
  const bulks = bulkService({ accounts, candidates, store, clock });
  const settings = settingsService({ ...settingsStores(mongo, clock), clock, observer: sending?.settings });
  const draining: Draining = { started: false };
  const app = createApp({
    routes: routes({
      candidates,
      bulks,
      eraser,
      documents,
      outreach: outreachService({ ...reminders, candidates: store }, config.SMTP_URL !== null),
      packs: packService({ store, contents: content, accounts, settings, reads, clock }),
      references: referenceService(store),
      settings,
      retention: retentionService({ store: rules, audit, newId: newTypeId }),
      usage: usageService(usage, accounts, clock),
      webhooks: webhooks.service,
    }),
    restore,
    reads,
    candidates,
    pages: { visits: visitsOf({ ...reminders, candidates: store }), documents },
    authenticator,
    limiter,
    outage,
    counter,
    idempotency,
    newId: newTypeId,
    log,
    metrics,
    tracing,
    draining,
    bodyTimeoutMs: config.BODY_TIMEOUT_MS,
    maxFileBytes: config.MAX_DOCUMENT_BYTES,
    trustedProxies: config.TRUSTED_PROXIES,
    logAddress: config.LOG_CLIENT_ADDRESS,
  });
  const work = runners({
    ...shared,
    restore,
    candidates: store,
    content,
    eraser,
    idempotency: idempotencyStore,
    reminders: sending,
    reminderStores: reminders.stores,
    usage,
    audit,
    accounts,
    holder,
    rules,
    feedLagMs,
    nudger: webhooks.nudger,
  });
  return {
    app,
    log,
    /** Work that becomes due as time passes. One replica at a time does it. */
    work,
    draining,
    /** Returns which of Redis and MongoDB do not respond, one text for each. One round trip to each server. */
    faults: () => health.faults(),
    /** Returns whether nobody may be served, because MongoDB is being restored. */
    isRestoring: () => restore.signal.aborted,
    // For operators' erasures and imports.
    eraser,
    candidates,
    bulks,
    /**
     * Waits until the outcome of every write is known and the last uses of keys and the usage are written, at most
     * SETTLE_WITHIN_MS and a few store operations. Then disconnects from Redis and MongoDB.
     */
    async close() {
      sending?.mailer.close();
      await webhooks.nudger.settled(SETTLE_WITHIN_MS);
      await sending?.sender.settled(SETTLE_WITHIN_MS); // before the checkpoints: it may still write candidates
      await Promise.all([checkpoints, counter, reads].map((each) => each.stop(SETTLE_WITHIN_MS)));
      await closeAll(closers);
    },
  };
}
