import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { Redis } from "ioredis";
import { startRedis, startSentinel, type TestServer } from "../../support/servers.ts";

const NAME = "limits";
/** The settings that operating.md recommends: a master that no replica follows accepts no writes. */
export const SAFE = { "min-replicas-to-write": "1", "min-replicas-max-lag": "2" } as const;
const ARGS = [...Object.entries(SAFE), ["repl-diskless-sync-delay", "0"]].flatMap(([name, value]) => [
  `--${name}`,
  `${value}`,
]);

/**
 * Sentinel asks its servers for their role every 10 s, and makes an old master a replica 8 s after a failover. Here it does
 * both about every second, and nothing else differs.
 */
const PROMPT = ["INFO-PERIOD", "1000", "PUBLISH-PERIOD", "250"];

/** Above Sentinel's ping interval of 1 s. Otherwise Sentinel may declare the new master down before its first ping. */
const DOWN_AFTER_MS = 2_000;
const PATIENCE_MS = 60_000;

/** A Redis master, two replicas, and three Sentinels that monitor them. */
export interface Trio {
  readonly url: string;
  master(): Promise<TestServer>;
  /** Requests a failover, as an operator would. */
  failover(): Promise<void>;
  /** Pauses writes on the master for `ms` milliseconds, or until it stops being the master. */
  pauseWrites(ms: number): Promise<void>;
  /** Resolves when the Sentinels name a master other than `old`, and it accepts writes. */
  promoted(old: TestServer): Promise<void>;
  /** Resolves when both replicas follow the master, and each Sentinel knows all three. */
  whole(): Promise<void>;
  /**
   * Resolves when each Sentinel has heard from both replicas that they are replicas. A Sentinel that last heard from an old
   * master that it is a master would end the next failover to it: it makes it a replica again.
   */
  demotionHeard(): Promise<void>;
  stop(): Promise<void>;
}

export async function startTrio(): Promise<Trio> {
  const first = await startRedis({ args: ARGS });
  const servers = [
    first,
    ...(await Promise.all(
      [1, 2].map(() => startRedis({ args: [...ARGS, "--replicaof", "127.0.0.1", `${first.port}`] })),
    )),
  ];
  const dir = mkdtempSync(join(tmpdir(), "onboarding-sentinels-"));
  const sentinels = await Promise.all(
    [1, 2, 3].map((n) => startSentinel(join(dir, `${n}.conf`), monitoring(first.port))),
  );
  const asked = sentinels.map(({ url }) => new Redis(url));
  await Promise.all(asked.map((each) => each.call("SENTINEL", "DEBUG", ...PROMPT)));
  const masterPort = (): Promise<number> => masterPortOf(asked[0]!);
  const masterNow = async (): Promise<TestServer> => {
    const port = await masterPort();
    const server = servers.find((each) => each.port === port);
    if (server === undefined) throw new Error(`No server has the port ${port}.`);
    return server;
  };
  const trio: Trio = {
    url: `redis+sentinel://${sentinels.map(({ port }) => `127.0.0.1:${port}`).join(",")}/${NAME}`,
    master: masterNow,
    failover: async () => void (await asked[0]!.call("SENTINEL", "FAILOVER", NAME)),
    pauseWrites: async (ms) =>
      void (await asking((await masterNow()).url, (redis) => redis.client("PAUSE", ms, "WRITE"))),
    async promoted(old) {
      await until(
        dir,
        "another master accepts writes",
        async () => (await masterPort()) !== old.port && (await takesWrites((await masterNow()).url)),
      );
    },
    whole: () =>
      until(dir, "two replicas follow the master, and all Sentinels know it", async () => {
        const port = await masterPort();
        const agree = asked.map(
          async (each) => (await masterPortOf(each)) === port && (await countReplicas(each, "flags")) === 2,
        );
        return (await onlineReplicas((await masterNow()).url)) === 2 && (await Promise.all(agree)).every(Boolean);
      }),
    demotionHeard: () =>
      until(dir, "all Sentinels have heard from both replicas that they are replicas", async () => {
        const heard = await Promise.all(asked.map((each) => countReplicas(each, "role-reported")));
        return heard.every((count) => count === 2);
      }),
    async stop() {
      for (const each of asked) each.disconnect();
      await Promise.all([...sentinels, ...servers].map((server) => server.stop()));
      rmSync(dir, { recursive: true, force: true });
    },
  };
  await trio.whole();
  return trio;
}

/** What a Sentinel of the trio monitors. */
function monitoring(masterPort: number): string[] {
  return [
    `sentinel monitor ${NAME} 127.0.0.1 ${masterPort} 2`,
    `sentinel down-after-milliseconds ${NAME} ${DOWN_AFTER_MS}`,
    `sentinel failover-timeout ${NAME} 5000`,
  ];
}

async function masterPortOf(sentinel: Redis): Promise<number> {
  return Number(((await sentinel.call("SENTINEL", "GET-MASTER-ADDR-BY-NAME", NAME)) as string[])[1]);
}

async function takesWrites(url: string): Promise<boolean> {
  return asking(url, (redis) => redis.set("takes-writes", "yes", "PX", 1000).then(() => true));
}

async function onlineReplicas(url: string): Promise<number> {
  return asking(url, async (redis) => (await redis.info("replication")).match(/state=online/g)?.length ?? 0);
}

/**
 * Returns for how many replicas a Sentinel has exactly "slave" in a field. `flags` is more than that if the replica is down.
 * `role-reported` is what the replica said of itself.
 */
async function countReplicas(sentinel: Redis, field: "flags" | "role-reported"): Promise<number> {
  const replicas = (await sentinel.call("SENTINEL", "REPLICAS", NAME)) as string[][];
  return replicas.filter((fields) => fields[fields.indexOf(field) + 1] === "slave").length;
}

async function asking<T>(url: string, ask: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(url, { maxRetriesPerRequest: 0, retryStrategy: () => null });
  redis.on("error", () => undefined); // the rejected command reports it
  try {
    return await ask(redis);
  } finally {
    redis.disconnect();
  }
}

/** Polls until the condition holds. @throws after 60 s, with the end of each Sentinel's log. */
async function until(dir: string, state: string, holds: () => Promise<boolean>): Promise<void> {
  for (const deadline = performance.now() + PATIENCE_MS; !(await holds().catch(() => false)); await setTimeout(50)) {
    if (performance.now() > deadline) throw new Error(`Not after 60 s: ${state}.\n${endsOfLogs(dir)}`);
  }
}

function endsOfLogs(dir: string): string {
  const logs = readdirSync(dir).filter((name) => name.endsWith(".log"));
  return logs
    .map((name) => `${name}:\n${readFileSync(join(dir, name), "utf8").split("\n").slice(-40).join("\n")}`)
    .join("\n");
}
