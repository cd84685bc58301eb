import { randomBytes } from "node:crypto";
import type { Standing } from "../accounts/announcer.ts";
import { AccountService } from "../accounts/service.ts";
import { AccountStore } from "../accounts/store.ts";
import { AuditStore } from "../audit/store.ts";
import { AuditTrail } from "../audit/trail.ts";
import type { Config } from "../config.ts";
import { followRedis, SharedClock } from "../infra/clock.ts";
import { newTypeId } from "../infra/ids.ts";
import { GrantService } from "../grants/service.ts";
import { GrantRecords } from "../grants/store.ts";
import { GrantStore } from "../limiter/grant-counters.ts";
import { LimitsService } from "../limits/service.ts";
import { KeyStanding } from "../limiter/key-markers.ts";
import { actorOf } from "./actor.ts";
import type { Services } from "./connect.ts";
import type { Servers } from "./servers.ts";

/** The services of the commands, made once each command, over servers that are connected to when one needs them. */
export function servicesOver(servers: Servers, config: Config): Services {
  const clock = new SharedClock();
  const newId = newTypeId;
  const audit = async () => new AuditTrail({ store: new AuditStore(await servers.mongo()), clock, newId, actor: actorOf(config) });
  const setClock = async () => followRedis(clock, await servers.redis());
  return {
    audit,
    setClock,
    accounts: async () =>
      new AccountService({
        store: new AccountStore(await servers.mongo()),
        standing: lazyStanding(servers),
        audit: await audit(),
        clock,
        newId,
        random: randomBytes,
        activeKeyCap: config.ACTIVE_KEY_CAP,
      }),
    async grants() {
      const [mongo, redis] = await Promise.all([servers.mongo(), servers.redis(), setClock()]);
      const stores = { accounts: new AccountStore(mongo), records: new GrantRecords(mongo), counts: new GrantStore(redis) };
      return new GrantService({ ...stores, audit: await audit(), clock, newId });
    },
    async limits() {
      const [mongo, redis] = await Promise.all([servers.mongo(), servers.redis()]);
      const { LIMIT_WINDOW_SECONDS: windowSeconds, LIMIT_SCALE: scale, STORE_TIMEOUT_MS: timeoutMs } = config;
      return new LimitsService({ redis, windowSeconds, scale, timeoutMs }, new AccountStore(mongo));
    },
  };
}

/** The markers in Redis, connected to by the few commands that set one. */
function lazyStanding(servers: Servers): Standing {
  const open = async () => new KeyStanding(await servers.redis());
  return {
    markRevoked: async (accountId, keyId) => (await open()).markRevoked(accountId, keyId),
    markRotated: async (accountId, keyId, version) => (await open()).markRotated(accountId, keyId, version),
    markSuspended: async (accountId) => (await open()).markSuspended(accountId),
    clearSuspended: async (accountId) => (await open()).clearSuspended(accountId),
  };
}
