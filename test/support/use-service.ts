import { connectMongo, type Mongo } from "../../src/infra/mongo.ts";
import type { Client } from "./client.ts";
import { type Processes, type Settings, spawnService } from "./processes.ts";
import { type Replicas, spawnReplicas } from "./replicas.ts";
import { type Service, startService, testConfig, type TestAccount } from "./service.ts";
import { forwardTo, useStarted } from "./use-started.ts";

/** Starts the real service before the tests of the `describe` that calls this, and stops it after them. */
export function useService(settings: Settings = {}): Service {
  return useStarted(
    "The service",
    () => startService(settings),
    (service) => service.stop(),
  );
}

/**
 * The same with the service in processes of its own.
 * @param settings may be a function, for settings that only an earlier hook knows.
 */
export function useProcesses(settings: Settings | (() => Settings) = {}): Processes {
  return useStarted(
    "The service",
    () => spawnService(valueOf(settings)),
    (service) => service.stop(),
  );
}

/** The same with several processes that have a port each. */
export function useReplicas(count: number, settings: Settings | (() => Settings) = {}): Replicas {
  return useStarted(
    "The replicas",
    () => spawnReplicas(count, valueOf(settings)),
    (replicas) => replicas.stop(),
  );
}

/** A database of its own for the suite that calls this, dropped after its tests. */
export function useDatabase(timeoutMs = 5_000): Mongo {
  const connect = () => connectMongo({ url: testConfig().MONGODB_URL ?? "", timeoutMs });
  return useStarted("The database", connect, async (mongo) => {
    await mongo.db.dropDatabase();
    await mongo.close();
  });
}

/** What can make test accounts. */
type WithAccounts = Pick<Service, "account">;

/**
 * A new account with one key for every test. Call it after `useService`, so that the service runs first.
 * @returns the account of the current test. `const { client } = useAccount(service)` is good in the body of a describe.
 */
export function useAccount(service: WithAccounts): TestAccount {
  let current: TestAccount | undefined;
  beforeEach(async () => {
    current = await service.account();
  });
  return forwardToAccount(() => current);
}

/** The same with one account for all tests of the suite. */
export function useSharedAccount(service: WithAccounts): TestAccount {
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
