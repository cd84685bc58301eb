import { randomBytes } from "node:crypto";
import type { Versions } from "../accounts/announce.ts";
import { AccountService } from "../accounts/service.ts";
import { AccountStore } from "../accounts/store.ts";
import type { AccountView } from "../accounts/view.ts";
import { AuditStore } from "../audit/store.ts";
import { type AuditTrail, auditTrail } from "../audit/trail.ts";
import { CLOCK_SKEW_MS, compose, type System } from "../compose.ts";
import type { Config } from "../config.ts";
import { type GrantService, grantService } from "../grants/service.ts";
import { GrantStore } from "../grants/store.ts";
import { localTimeOf } from "../infra/clock-watch.ts";
import { followRedis, SharedClock } from "../infra/clock.ts";
import { checkSchemaVersion } from "../infra/schema-version.ts";
import { newTypeId } from "../infra/ids.ts";
import { createLog } from "../infra/log.ts";
import { connectMongo, type Mongo } from "../infra/mongo.ts";
import { connectRedis, type RedisClient } from "../infra/redis.ts";
import { Restore } from "../infra/restore.ts";
import { Startup } from "../infra/startup.ts";
import { GrantCounters } from "../limiter/grant-counters.ts";
import { AccountVersions } from "../limiter/account-versions.ts";
import { ISSUE_WAIT_MS } from "../limiter/refusal-cache.ts";
import { type AccountLimits, readAccountLimits } from "../limits/account-limits.ts";
import { invalid } from "../problems.ts";
import { type ReminderControl, reminderControl } from "../reminders/control.ts";
import { PlanStore } from "../reminders/plan-store.ts";
import { openReminders } from "../reminders/wire.ts";
import { type UsageService, usageService } from "../usage/service.ts";
import { UsageStore } from "../usage/store.ts";

/**
 * Wires the services that operators use. Each method connects only to the servers it needs, when it is first called, so that
 * a key can be revoked while Redis is down.
 */
export class Operations {
  readonly config: Config;
  readonly clock = new SharedClock();
  readonly #command: readonly string[];
  #mongo: Promise<Mongo> | undefined;
  #redis: Promise<RedisClient> | undefined;

  /** @param command the arguments of the command, for errors. */
  constructor(config: Config, command: readonly string[] = []) {
    this.config = config;
    this.#command = command;
  }

  mongo(): Promise<Mongo> {
    return (this.#mongo ??= openMongo(this.config));
  }

  async redis(): Promise<RedisClient> {
    const { REDIS_URL: url, STORE_TIMEOUT_MS: timeoutMs } = this.config;
    if (url === null) throw notSet("REDIS_URL");
    // Not LIMITER_TIMEOUT_MS: an operator waits longer than a request does.
    return (this.#redis ??= connectRedis({ url, timeoutMs }));
  }

  /** @param audit records the changes. By default, the audit. */
  async accounts(audit?: Pick<AuditTrail, "around">): Promise<AccountService> {
    return new AccountService({
      store: await this.accountStore(),
      versions: this.#lazyVersions(),
      audit: audit ?? (await this.audit()),
      clock: this.clock,
      newId: newTypeId,
      random: randomBytes,
      activeKeyCap: this.config.ACTIVE_KEY_CAP,
    });
  }

  async accountStore(): Promise<AccountStore> {
    return new AccountStore(await this.mongo());
  }

  /** Suspends an account, or ends its suspension, and has its reminders replanned. */
  async setStatus(account: string, status: "active" | "suspended"): Promise<AccountView> {
    this.actor(); // throws before anything is written
    await (await this.outreach()).noteChange(account);
    return (await this.accounts()).setStatus(account, status);
  }

  async grants(): Promise<GrantService> {
    const [mongo, redis] = await Promise.all([this.mongo(), this.redis(), this.setClock()]);
    return grantService({
      accounts: new AccountStore(mongo),
      versions: new AccountVersions(redis),
      store: new GrantStore(mongo),
      counters: new GrantCounters(redis),
      issueWaitMs: ISSUE_WAIT_MS,
      audit: await this.audit(),
      clock: this.clock,
      newId: newTypeId,
    });
  }

  async outreach(): Promise<ReminderControl> {
    const mongo = await this.mongo();
    const restore = new Restore(mongo, newTypeId);
    await restore.read();
    const shared = { mongo, clock: this.clock, config: this.config, restore, random: randomBytes };
    return reminderControl(await openReminders({ ...shared, accounts: new AccountStore(mongo) }), await this.audit());
  }

  /** Composes the service, for changes that the feed has to show. Close it. */
  system(): Promise<System> {
    return compose(this.config, new Startup(createLog("silent", { write: () => undefined }), false));
  }

  /** Composes the service for a task, and closes it. */
  async withSystem<T>(task: (system: System) => Promise<T>): Promise<T> {
    const system = await this.system();
    try {
      return await task(system);
    } finally {
      await system.close();
    }
  }

  /** Erases candidates: through the composed service, because the feed has to show it. @throws {Error} of those that do not exist, in the end. */
  async erase(candidateIds: readonly string[]): Promise<{ object: string; erased: readonly string[] }> {
    const plans = new PlanStore(await this.mongo());
    const absent: string[] = [];
    await this.withSystem(async ({ eraser }) => {
      for (const id of candidateIds) {
        const accountId = await plans.accountOf(id);
        if (accountId === undefined) absent.push(id);
        else await eraser.erase({ accountId, keyId: this.actor() }, id, () => undefined);
      }
    });
    if (absent.length === 0) return { object: "erasure", erased: candidateIds };
    const others = candidateIds.length > absent.length ? "; the others are erased" : "";
    throw new Error(`There is no candidate ${absent.join(", ")}${others}. Check the id.`);
  }

  async limitsOf(accountId: string): Promise<AccountLimits> {
    const [mongo, redis] = await Promise.all([this.mongo(), this.redis()]);
    const { LIMIT_WINDOW_SECONDS: windowSeconds, LIMIT_SCALE: scale, STORE_TIMEOUT_MS: timeoutMs } = this.config;
    return readAccountLimits({ redis, windowSeconds, scale, timeoutMs }, new AccountStore(mongo), accountId);
  }

  async usage(): Promise<UsageService> {
    const mongo = await this.mongo();
    return usageService(new UsageStore(mongo), new AccountStore(mongo), this.clock);
  }

  async audit(): Promise<AuditTrail> {
    const { store } = await this.auditFollowing();
    return auditTrail({ store, newId: newTypeId, actor: () => this.actor() });
  }

  /** By MongoDB's clock: an entry of a machine whose clock is ahead would hide the later ones of its account. */
  async auditFollowing() {
    const [mongo, clock] = [await this.mongo(), new SharedClock()];
    clock.set((await localTimeOf(mongo)) - performance.now());
    return { store: new AuditStore(mongo, clock), clock, lagMs: this.config.STORE_TIMEOUT_MS + CLOCK_SKEW_MS };
  }

  /** Returns the operator's name for the audit. @throws problem `validation_failed` if it must be set, and is not. */
  actor(): string {
    return actorOf(this.config, this.#command);
  }

  /** Sets the clock to Redis's, for times that must be exact. One round trip. */
  async setClock(): Promise<void> {
    await followRedis(this.clock, await this.redis());
  }

  async close(): Promise<void> {
    const [mongo, redis] = await Promise.allSettled([this.#mongo, this.#redis]);
    if (redis.status === "fulfilled") redis.value?.disconnect();
    if (mongo.status === "fulfilled") await mongo.value?.close();
  }

  /** Connects to Redis only when a command announces a change. Few commands do. */
  #lazyVersions(): Versions {
    const open = async () => new AccountVersions(await this.redis());
    return { now: async () => (await open()).now(), raise: async (...read) => (await open()).raise(...read) };
  }
}

async function openMongo({ MONGODB_URL: url, STORE_TIMEOUT_MS: timeoutMs }: Config): Promise<Mongo> {
  if (url === null) throw notSet("MONGODB_URL");
  const mongo = await connectMongo({ url, timeoutMs }).catch((cause: unknown) => {
    throw new Error("MongoDB cannot be reached; see MONGODB_URL.", { cause });
  });
  await checkSchemaVersion(mongo).catch(async (error: unknown) => {
    await mongo.close();
    throw error;
  });
  return mongo;
}

function notSet(setting: "MONGODB_URL" | "REDIS_URL"): Error {
  return new Error(`${setting} is not set. Set it, or run npm start first and use the same DATA_DIR.`);
}

/**
 * Returns the operator's name for the audit: ADMIN_ACTOR, else the user who called sudo, else the current one.
 * @throws problem `validation_failed`, with the command to write, if ADMIN_ACTOR is required and blank.
 */
export function actorOf(
  { ADMIN_ACTOR, ADMIN_ACTOR_REQUIRED }: Pick<Config, "ADMIN_ACTOR" | "ADMIN_ACTOR_REQUIRED">,
  command: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): string {
  if (ADMIN_ACTOR.trim() !== "") return ADMIN_ACTOR;
  if (ADMIN_ACTOR_REQUIRED === "false") return env.SUDO_USER || env.USER || env.LOGNAME || `uid ${process.getuid?.()}`;
  const words = command.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`));
  const example = `env ADMIN_ACTOR=ann node dist/admin/main.js ${words.join(" ")}`;
  throw invalid("/ADMIN_ACTOR", "", `Nothing was changed: the audit needs your name. Run in the container: ${example}`);
}
