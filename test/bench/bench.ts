import { randomUUID } from "node:crypto";
import { Redis } from "ioredis";
import { MongoClient } from "mongodb";
import { ConnectionString } from "mongodb-connection-string-url";
import { Operations } from "../../src/admin/operations.ts";
import { readConfig } from "../../src/config.ts";
import type { Servers } from "../../src/dev/servers.ts";
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
  readonly children: Children;
  readonly generator: Generator;
  /** Temporary folder. */
  readonly folder: string;
  /** Begins the name of each counter of a peer. */
  readonly prefix: string;
  /** "mongod 8.0.4", or the stand-in's name. */
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
  /** Whether to measure what only the plots show: latency by load, and the edge of a window. */
  readonly plots: boolean;
  /** Candidates of the accounts that are compared, ascending. */
  readonly sizes: readonly number[];
  /** Minutes for which memory is measured in each state. */
  readonly memoryMinutes: number;
  /** The edge of the hour: accounts whose counters are in Redis, and seconds that are measured before it and after it. */
  readonly edge: { readonly accounts: number; readonly seconds: number };
}

/** A database of MongoDB, with the accounts that are created in it. */
type Database = Pick<Bench, "mongodbUrl" | "mongo" | "account" | "close">;

/** Connects, and starts the generator. */
export async function openBench(
  servers: Servers,
  { dist, folder, options, signal }: { dist: string; folder: string; options: Options; signal: AbortSignal },
): Promise<Bench> {
  const { redisUrl } = servers;
  const children = new Children(dist, signal);
  const redis = new Redis(redisUrl);
  const prefix = `bench:${randomUUID()}`;
  const databases = [await openDatabase(servers)] as [Database, ...Database[]];
  const [{ mongo }] = databases;
  const bench: Bench = {
    ...databases[0],
    redisUrl,
    redis,
    children,
    generator: await Generator.start(children),
    folder,
    prefix,
    engine: await engineOf(mongo),
    options,
    signal,
    async withDatabase() {
      const database = await openDatabase(servers);
      databases.push(database);
      return { ...bench, ...database };
    },
    async close() {
      await children.stopAll();
      for (const database of databases) await database.close();
      for await (const keys of redis.scanStream({ match: `${prefix}*`, count: 1000 }) as AsyncIterable<string[]>)
        if (keys.length > 0) await redis.unlink(keys);
      redis.disconnect();
    },
  };
  return bench;
}

async function openDatabase({ redisUrl, mongodbUrl: url }: Servers): Promise<Database> {
  const mongodbUrl = withDatabase(url, `bench-${randomUUID()}`);
  const mongo = await new MongoClient(mongodbUrl).connect();
  const operations = new Operations(readConfig({ REDIS_URL: redisUrl, MONGODB_URL: mongodbUrl }));
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
  return real ? `mongod ${String(version)}` : `a stand-in that says it is MongoDB ${String(version)}`;
}

/** A user stays that of the URL's own database. */
function withDatabase(url: string, name: string): string {
  const changed = new ConnectionString(url);
  if (changed.username !== "" && !changed.searchParams.has("authSource"))
    changed.searchParams.set("authSource", decodeURIComponent(changed.pathname.slice(1)) || "admin");
  changed.pathname = `/${name}`;
  return changed.href;
}
