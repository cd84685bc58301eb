import { randomBytes } from "node:crypto";
import { Authenticator } from "../../src/accounts/authenticate.ts";
import type { KnownCaller } from "../../src/accounts/caller.ts";
import type { Credentials } from "../../src/accounts/key.ts";
import { GuessLimiter } from "../../src/accounts/guess-limiter.ts";
import { AccountService } from "../../src/accounts/service.ts";
import { AccountStore } from "../../src/accounts/store.ts";
import { AuditStore } from "../../src/audit/store.ts";
import { auditTrail } from "../../src/audit/trail.ts";
import { SharedClock } from "../../src/infra/clock.ts";
import { newTypeId } from "../../src/infra/ids.ts";
import { connectMongo, type Mongo } from "../../src/infra/mongo.ts";
import { connectRedis } from "../../src/infra/redis.ts";
import { AccountVersions } from "../../src/limiter/account-versions.ts";
import { isRefusal, Problem, type ProblemCode } from "../../src/problems.ts";
import { withOptions } from "../support/mongo-url.ts";
import { testConfig } from "../support/service.ts";
import { useStarted } from "../support/use-started.ts";

export const CAP = 5;

/** An account service on real servers with its own database, which counts the reads from MongoDB. */
export interface Accounts {
  readonly mongo: Mongo;
  readonly store: AccountStore;
  readonly versions: AccountVersions;
  readonly service: AccountService;
  /** Returns how many find commands the driver has sent on this connection so far. */
  finds(): number;
  close(): Promise<void>;
}

/** Opens the account service before the tests of the `describe` that calls this, and closes it after them. */
export function useAccounts(): Accounts {
  return useStarted("The accounts", openAccounts, (accounts) => accounts.close());
}

async function openAccounts(): Promise<Accounts> {
  const { MONGODB_URL, REDIS_URL, STORE_TIMEOUT_MS } = testConfig();
  const redis = await connectRedis({ url: REDIS_URL ?? "", timeoutMs: STORE_TIMEOUT_MS });
  const url = withOptions(MONGODB_URL ?? "", { monitorCommands: "true" });
  const mongo = await connectMongo({ url, timeoutMs: STORE_TIMEOUT_MS });
  let finds = 0;
  mongo.client.on("commandStarted", ({ commandName }) => {
    if (commandName === "find") finds++;
  });
  const store = new AccountStore(mongo);
  const versions = new AccountVersions(redis);
  const service = new AccountService({
    store,
    versions,
    audit: auditTrail({
      store: new AuditStore(mongo, new SharedClock()),
      newId: newTypeId,
      actor: () => "test",
    }),
    clock: new SharedClock(),
    newId: newTypeId,
    random: randomBytes,
    activeKeyCap: CAP,
  });
  return {
    mongo,
    store,
    versions,
    service,
    finds: () => finds,
    async close() {
      await mongo.db.dropDatabase();
      await mongo.close();
      redis.disconnect();
    },
  };
}

/** Returns the problem that `work` rejects with. @throws if it resolves, or rejects with anything else. */
export async function problemOf(work: Promise<unknown>, code: ProblemCode): Promise<Problem> {
  const outcome = await work.then(
    () => new Error(`expected problem ${code}, got none`),
    (error: unknown) => error,
  );
  if (outcome instanceof Problem && outcome.code === code) return outcome;
  throw outcome;
}

/** Returns an epoch that lasts until the test connects again: `connections++`. */
export function newEpoch(): { connections: number; of(accountId: string): string | number } {
  const epoch = { connections: 1, of: (): string | number => epoch.connections };
  return epoch;
}

/** Returns an authenticator on the servers of the accounts. A test may replace each of its dependencies. */
export function newAuthenticator(
  { store, versions }: Pick<Accounts, "store" | "versions">,
  others: Partial<ConstructorParameters<typeof Authenticator>[0]> = {},
): Authenticator {
  const guard = new GuessLimiter({ store });
  return new Authenticator({ store, clock: Date, guard, versions, epoch: newEpoch(), timeoutMs: 5_000, ...others });
}

/** Authenticates. @throws any refusal as a problem, whether or not it needed a look-up. */
export async function authenticate(authenticator: Authenticator, credentials: Credentials): Promise<KnownCaller> {
  const found = await authenticator.authenticate(credentials);
  if (isRefusal(found)) throw new Problem(found);
  return found;
}

/** Returns the credentials of a request with this key from this address. */
export function bearer(key: string, address = "192.0.2.1"): Credentials {
  return { authorization: `Bearer ${key}`, apiKey: undefined, address: () => address };
}
