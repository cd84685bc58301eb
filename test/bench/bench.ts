import { randomUUID } from "node:crypto";
import { Redis } from "ioredis";
import { MongoClient } from "mongodb";
import { Operations } from "../../src/admin/operations.ts";
import { readConfig } from "../../src/config.ts";
import type { Servers } from "../../src/dev/servers.ts";
import { withDatabase } from "../support/mongo-url.ts";
import { Children } from "./children.ts";
import { Generator } from "./load.ts";

/** An account of the service with some keys. */
export interface BenchAccount {
  readonly id: string;
  readonly keys: readonly string[];
}

/** What every part of the bench works with. */
export interface Bench {
  readonly redisUrl: string;
  readonly mongodbUrl: string;
  readonly redis: Redis;
  readonly mongo: MongoClient;
  /** The servers that are measured. */
  readonly children: Children;
  readonly generator: Generator;
  /** Temporary folder. */
  readonly folder: string;
  /** Begins the name of each counter of a peer. */
  readonly prefix: string;
  /** "mongod 8.0.4", or "stand-in for MongoDB 8.0.4". */
  readonly engine: string;
  readonly options: Options;
  readonly signal: AbortSignal;
  /** Creates an account with that many keys. */
  account(keys: number): Promise<BenchAccount>;
  /** Returns the same bench on another database, which is empty. */
  withDatabase(): Promise<Bench>;
  close(): Promise<void>;
}

export interface Options {
  /** Length of one measurement of one contender, in seconds. */
  readonly slice: number;
  /** Load on each contender before the first measurement, in seconds. */
  readonly warmUp: number;
  readonly rounds: number;
  /** Rounds after which a ratio that is still too noisy is given up. */
  readonly maxRounds: number;
  /** Minutes for which memory is measured in each state. */
  readonly memoryMinutes: number;
  /** Pages of the feed that a service answers before they are measured in steady use. */
  readonly steadyPages: number;
  /** The edge of the hour: accounts whose counters are in Redis, and seconds that are measured before it and after it. */
  readonly edge: { readonly accounts: number; readonly seconds: number };
  /** Reminders that are due at once, and seconds that are measured. */
  readonly reminders: { readonly due: number; readonly seconds: number };
}

/** A database of MongoDB, with the accounts that are created in it. */
type Database = Pick<Bench, "mongodbUrl" | "mongo" | "account" | "close">;

/** Connects, and starts the generator. */
export async function openBench(
  servers: Pick<Servers, "redisUrl" | "mongodbUrl">,
  { dist, folder, options, signal }: { dist: string; folder: string; options: Options; signal: AbortSignal },
): Promise<Bench> {
  const { redisUrl } = servers;
  const [children, generators] = [new Children(dist, signal), new Children(dist, signal)];
  const redis = new Redis(redisUrl);
  const first = await openDatabase(servers);
  const databases = [first];
  const bench: Bench = {
    ...first,
    redisUrl,
    redis,
    children,
    generator: new Generator(await generators.start("test/bench/programs/generator")),
    folder,
    prefix: `bench:${randomUUID()}`,
    engine: await engineOf(first.mongo),
    options,
    signal,
    async withDatabase() {
      const database = await openDatabase(servers);
      databases.push(database);
      return { ...bench, ...database };
    },
    async close() {
      await Promise.all([children.stopAll(), generators.stopAll()]);
      for (const database of databases) await database.close();
      for await (const keys of redis.scanStream({ match: `${bench.prefix}*`, count: 1000 }) as AsyncIterable<string[]>)
        if (keys.length > 0) await redis.unlink(keys);
      redis.disconnect();
    },
  };
  return bench;
}

async function openDatabase(servers: Pick<Servers, "redisUrl" | "mongodbUrl">): Promise<Database> {
  const mongodbUrl = withDatabase(servers.mongodbUrl, `bench-${randomUUID()}`);
  const mongo = await new MongoClient(mongodbUrl).connect();
  const operations = new Operations(readConfig({ REDIS_URL: servers.redisUrl, MONGODB_URL: mongodbUrl }));
  return {
    mongodbUrl,
    mongo,
    async account(keys) {
      const accounts = await operations.accounts();
      const { id } = await accounts.createAccount({ name: "Bench" });
      const made = Array.from({ length: keys }, (_, n) => accounts.createKey({ accountId: id, name: `key ${n}` }));
      return { id, keys: (await Promise.all(made)).map(({ key }) => key) };
    },
    async close() {
      await operations.close();
      await mongo.db().dropDatabase();
      await mongo.close();
    },
  };
}

async function engineOf(mongo: MongoClient): Promise<string> {
  const { version, storageEngines, modules } = await mongo.db("admin").command({ buildInfo: 1 });
  const real = Array.isArray(storageEngines) || Array.isArray(modules);
  return `${real ? "mongod" : "stand-in for MongoDB"} ${String(version)}`;
}
