import { connectMongo, type Mongo } from "../../src/infra/mongo.ts";
import type { Client } from "./client.ts";
import { atEndOfRun } from "./end-of-run.ts";
import { type Processes, type Settings, spawnService } from "./processes.ts";
import { type Replicas, spawnReplicas } from "./replicas.ts";
import { type Service, startService, testConfig, type TestAccount } from "./service.ts";
import { forwardTo, useStarted } from "./use-started.ts";

let shared: Promise<Service> | undefined;

/**
 * The real service, for the tests of the `describe` that calls this. Without settings it is the one of this mocha worker: other
 * files' candidates and accounts are there too, and a log that begins with the suite. With settings it is one of the suite's
 * own.
 */
export function useService(settings?: Settings): Service {
  if (settings !== undefined) return useOwnService(settings);
  return useStarted("The service", sharedService, () => undefined);
}

/**
 * Starts a service with a database of its own before the tests of the `describe` that calls this, and stops it after them. For
 * tests that look at all that a service does or holds: its whole log, metrics, database, sweeps.
 * @param settings a function if they depend on something that an earlier hook starts.
 */
export function useOwnService(settings: Settings | (() => Settings) = {}): Service {
  return useStarted(
    "The service",
    () => startService(valueOf(settings)),
    (service) => service.stopAtOnce(),
  );
}

/**
 * Stops the service of this mocha worker before the tests of the `describe` that calls this. For tests that replace the timers
 * of the whole process or count its operations: a service has some in the background. The next suite that needs the service
 * starts it again.
 */
export function useNoService(): void {
  before(stopShared);
}

/** Starts the service of this process when a suite needs it. It serves until the process has run all its tests. */
async function sharedService(): Promise<Service> {
  if (shared === undefined) {
    shared = startService();
    atEndOfRun(stopShared);
  }
  const service = await shared;
  service.log.length = 0;
  return service;
}

async function stopShared(): Promise<void> {
  const running = shared;
  shared = undefined;
  await (await running)?.stopAtOnce();
}

/**
 * Like `useService`, but runs the service in child processes.
 * @param settings a function if they depend on something that an earlier hook starts.
 */
export function useProcesses(settings: Settings | (() => Settings) = {}): Processes {
  return useStarted(
    "The service",
    () => spawnService(valueOf(settings)),
    (service) => service.stop(),
  );
}

/** Like `useProcesses`, but with `count` replicas that each have their own port. */
export function useReplicas(count: number, settings: Settings | (() => Settings) = {}): Replicas {
  return useStarted(
    "The replicas",
    () => spawnReplicas(count, valueOf(settings)),
    (replicas) => replicas.stop(),
  );
}

/** Creates a database for the suite that calls this, and drops it after the suite's tests. */
export function useDatabase(timeoutMs = 5_000): Mongo {
  const connect = () => connectMongo({ url: testConfig().MONGODB_URL ?? "", timeoutMs });
  return useStarted("The database", connect, async (mongo) => {
    await mongo.db.dropDatabase();
    await mongo.close();
  });
}

/** Creates test accounts. */
type WithAccounts = Pick<Service, "account">;

/**
 * Creates a new account with one key before every test. A service that it is given must be started by an earlier hook.
 * @returns the account of the current test. The body of a `describe` may destructure `client`, `used` and `another` from it.
 * Only hooks and tests may read `id`, `keyId` and `key`.
 */
export function useAccount(service: WithAccounts = useService()): TestAccount {
  let current: TestAccount | undefined;
  beforeEach(async () => {
    current = await service.account();
  });
  return forwardToAccount(() => current);
}

/** Like `useAccount`, but with one account for all tests of the suite. */
export function useSharedAccount(service: WithAccounts = useService()): TestAccount {
  let current: TestAccount | undefined;
  before(async () => {
    current = await service.account();
  });
  return forwardToAccount(() => current);
}

function forwardToAccount(current: () => TestAccount | undefined): TestAccount {
  const account = forwardTo("The account", current);
  const client = forwardTo<Client>("The client", () => current()?.client);
  return {
    get id() {
      return account.id;
    },
    get keyId() {
      return account.keyId;
    },
    get key() {
      return account.key;
    },
    client,
    used: () => account.used(),
    another: () => account.another(),
  };
}

function valueOf(settings: Settings | (() => Settings)): Settings {
  return typeof settings === "function" ? settings() : settings;
}
