import { randomUUID } from "node:crypto";
import { type Config, readConfig } from "../../src/config.ts";
import { createLog } from "../../src/infra/log.ts";
import { startReplica } from "../../src/process/replica.ts";
import type { Surface } from "../../src/limiter/surfaces.ts";
import { Client } from "./client.ts";
import { expectInContract } from "./contract.ts";
import { withDatabase } from "./mongo-url.ts";
import { openOperators, type Operators } from "./operators.ts";

/** The real service, running in this process, on a real Redis and a MongoDB database of its own. */
export interface Service {
  readonly url: string;
  readonly port: number;
  readonly opsUrl: string;
  readonly operators: Operators;
  readonly config: Config;
  /** Every line that it logged since the current suite began, parsed. */
  readonly log: Record<string, unknown>[];
  /** Creates an account with one key, and a client that uses the key. */
  account(): Promise<TestAccount>;
  /** Stops serving as a service in production does, and drops the database. */
  stop(): Promise<void>;
  /** The same, but does not wait for connections that may still come. */
  stopAtOnce(): Promise<void>;
}

export interface TestAccount {
  readonly id: string;
  readonly keyId: string;
  readonly key: string;
  readonly client: Client;
  /** Reads what the key has used of each surface in the current window. Unused surfaces are left out. */
  used(): Promise<Partial<Record<Surface, number>>>;
  /** Creates another key of the same account. */
  another(): Promise<{ keyId: string; key: string; client: Client }>;
}

/** Settings for the service of one test: the servers that `npm test` started, a new database, free ports. */
export function testConfig(settings: Partial<Record<keyof Config, string | number>> = {}): Config {
  const { MONGODB_URL, REDIS_URL, TEST_DATABASES = "test" } = process.env;
  if (!MONGODB_URL || !REDIS_URL) throw new Error("Run the tests with `npm test`: it starts Redis and MongoDB.");
  // Tests, service and servers share one machine, so a busy moment must not count as an outage. Tests of this timeout set it.
  const timeouts = { LIMITER_TIMEOUT_MS: 5_000 };
  // An hourly window could end in the middle of a test and reset its counts. A daily one ends only at midnight UTC.
  const window = { LIMIT_WINDOW_SECONDS: 86_400 };
  const env = {
    HOST: "127.0.0.1",
    PORT: 0,
    OPS_PORT: 0,
    MONGODB_URL: withDatabase(MONGODB_URL, `${TEST_DATABASES}-${randomUUID()}`),
    REDIS_URL,
    ...timeouts,
    ...window,
    ...settings,
  };
  return readConfig(Object.fromEntries(Object.entries(env).map(([name, value]) => [name, String(value)])));
}

/** Returns settings as environment variables. An empty value counts as not set. */
export function environmentOf(config: Config): Record<string, string> {
  return Object.fromEntries(Object.entries(config).map(([name, value]) => [name, String(value ?? "")]));
}

/** Starts the service as production does, with these settings over those of `testConfig`. */
export async function startService(settings: Partial<Record<keyof Config, string | number>> = {}): Promise<Service> {
  const config = testConfig(settings);
  const log: Record<string, unknown>[] = [];
  const destination = { write: (line: string) => void log.push(JSON.parse(line) as Record<string, unknown>) };
  const [replica, operators] = await Promise.all([
    startReplica(config, createLog("debug", destination)),
    openOperators(config),
  ]);
  const url = `http://127.0.0.1:${replica.port}`;
  async function stop(quietMs?: number): Promise<void> {
    await replica.stop(quietMs);
    await operators.mongo.db.dropDatabase();
    await operators.close();
  }
  return {
    url,
    port: replica.port,
    opsUrl: `http://127.0.0.1:${replica.opsPort}`,
    operators,
    config,
    log,
    account: () => newAccount(operators, url),
    stop: () => stop(),
    stopAtOnce: () => stop(0),
  };
}

/** Creates an account with one key, and a client for the service at `url`. The client checks every response against the contract. */
export async function newAccount(
  { accounts, usage }: Pick<Operators, "accounts" | "usage">,
  url: string,
): Promise<TestAccount> {
  const { id } = await accounts.createAccount({ name: "Test" });
  const issue = async () => {
    const { id: keyId, key } = await accounts.createKey({ accountId: id, name: "test" });
    return { keyId, key, client: new Client(url, key, expectInContract) };
  };
  const key = await issue();
  const used = async () => {
    const { surfaces } = await usage({ accountId: id, keyId: key.keyId });
    return Object.fromEntries(
      surfaces.filter((surface) => surface.key.used > 0).map(({ surface, key }) => [surface, key.used]),
    );
  };
  return { id, ...key, another: issue, used };
}
