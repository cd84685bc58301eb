import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { Redis } from "ioredis";
import { freePort } from "../../src/dev/server-process.ts";
import { startRedis, startSentinel, type TestServer } from "../support/servers.ts";

/** A Redis that is reached by one form of REDIS_URL. */
export interface Reached {
  readonly url: string;
  readonly server: TestServer;
  readonly sentinelUrl?: string;
  stop(): Promise<unknown>;
}

/**
 * A user that every server has. The default user works without a password, too, so the tests read from the list of
 * connections who connected.
 */
const USER = ["--user", "ann", "on", ">one", "~*", "&*", "+@all"];

/** Starts one server, with the user "ann". */
export async function startStandalone(): Promise<Reached> {
  const server = await startRedis({ args: USER });
  return { url: `redis://ann:one@127.0.0.1:${server.port}/3`, server, stop: () => server.stop() };
}

/** Starts a cluster of one node, which has all slots. */
async function startCluster(): Promise<Reached> {
  const bus = await freePort();
  const args = [...USER, "--cluster-enabled", "yes", "--cluster-port", `${bus}`, "--cluster-announce-ip", "127.0.0.1"];
  const server = await startRedis({ args });
  await asking(server.url, async (redis) => {
    await redis.call("CLUSTER", "ADDSLOTSRANGE", 0, 16_383);
    while (!String(await redis.call("CLUSTER", "INFO")).includes("cluster_state:ok")) await setTimeout(20);
  });
  return { url: `redis+cluster://ann:one@127.0.0.1:${server.port}`, server, stop: () => server.stop() };
}

/** Starts a server and a Sentinel that monitors it. The Sentinel has the user "sen". */
async function startBehindSentinel(): Promise<Reached> {
  const server = await startRedis({ args: USER });
  const dir = mkdtempSync(join(tmpdir(), "onboarding-sentinel-"));
  const monitor = `sentinel monitor limits 127.0.0.1 ${server.port} 1`;
  const sentinel = await startSentinel(join(dir, "sentinel.conf"), ["user sen on >two ~* &* +@all", monitor]);
  const url = `redis+sentinel://ann:one@127.0.0.1:${sentinel.port}/limits/3?sentinelUsername=sen&sentinelPassword=two`;
  const stop = async () => {
    await Promise.all([sentinel.stop(), server.stop()]);
    rmSync(dir, { recursive: true, force: true });
  };
  return { url, server, sentinelUrl: sentinel.url, stop };
}

/** What starts a Redis that is reached by each form of REDIS_URL. */
export const FORMS: Record<string, () => Promise<Reached>> = {
  "a single server": startStandalone,
  "a cluster": startCluster,
  "a server behind Sentinels": startBehindSentinel,
};

/** Returns the lines of `CLIENT LIST`: one for each connection to the server. */
export async function connectionsTo(url: string): Promise<string[]> {
  return String(await asking(url, (redis) => redis.call("CLIENT", "LIST"))).split("\n");
}

/** Asks a server through a connection of its own, without a name and as the default user. */
export async function asking<T>(url: string, ask: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(url);
  try {
    return await ask(redis);
  } finally {
    redis.disconnect();
  }
}
