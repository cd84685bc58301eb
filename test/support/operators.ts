import type { AccountService } from "../../src/accounts/service.ts";
import type { AuditTrail } from "../../src/audit/trail.ts";
import type { Caller } from "../../src/accounts/caller.ts";
import { Operations } from "../../src/admin/operations.ts";
import type { Config } from "../../src/config.ts";
import type { GrantService } from "../../src/grants/service.ts";
import { connectMongo, type Mongo } from "../../src/infra/mongo.ts";
import { connectRedis } from "../../src/infra/redis.ts";
import { readUsage, type Usage } from "../../src/limiter/usage.ts";

/** The operators' services and stores of a running service, for what tests cannot do through its API. */
export interface Operators {
  readonly accounts: AccountService;
  readonly grants: GrantService;
  readonly audit: AuditTrail;
  readonly mongo: Mongo;
  /** Reads what a key and its account have used, without charging. */
  readonly usage: (caller: Caller) => Promise<Usage>;
  close(): Promise<void>;
}

/** Connects to the Redis and MongoDB that the settings name. */
export async function openOperators(config: Config): Promise<Operators> {
  const operations = new Operations(config);
  const {
    MONGODB_URL,
    REDIS_URL,
    STORE_TIMEOUT_MS: timeoutMs,
    LIMIT_WINDOW_SECONDS: windowSeconds,
    LIMIT_SCALE: scale,
  } = config;
  const [mongo, redis, accounts, grants, audit] = await Promise.all([
    connectMongo({ url: MONGODB_URL ?? "", timeoutMs }),
    connectRedis({ url: REDIS_URL ?? "", timeoutMs: config.LIMITER_TIMEOUT_MS }),
    operations.accounts(),
    operations.grants(),
    operations.audit(),
  ]);
  return {
    accounts,
    grants,
    audit,
    mongo,
    usage: (caller) => readUsage({ redis, windowSeconds, scale, timeoutMs: config.LIMITER_TIMEOUT_MS }, caller),
    async close() {
      await operations.close();
      redis.disconnect();
      await mongo.close();
    },
  };
}
