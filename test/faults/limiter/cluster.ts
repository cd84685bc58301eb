import { once } from "node:events";
import { freePort } from "../../../src/dev/server-process.ts";
import { setTimeout } from "node:timers/promises";
import { Redis } from "ioredis";
import { startRedis, type TestServer } from "../../support/servers.ts";

const SLOTS = 16_384;
const NODE_TIMEOUT_MS = 2_000;

/** A Redis Cluster of three masters with one replica each, which serves all slots. */
export interface SixNodes {
  readonly url: string;
  /** Returns the master of an account's slot. */
  masterOf(accountId: string): Promise<ClusterNode>;
  /** Resolves when a node other than `old` owns the account's slot, and all running nodes know it. */
  promoted(accountId: string, old: ClusterNode): Promise<void>;
  /** Starts one more master. It has no slots, so no client knows it. */
  addMaster(): Promise<ClusterNode>;
  /**
   * Moves the account's slot to another master, as redis-cli does: one key after the other. Waits `pauseMs` milliseconds
   * before each key, and before the slot has its new owner: until then the old one returns ASK.
   * @param target the new master, by default any other.
   * @param moved is called when all keys are there.
   */
  moveSlot(accountId: string, pauseMs: number, target?: ClusterNode, moved?: () => Promise<void>): Promise<void>;
  /** Begins such a move. From now on the old master returns ASK for keys that it does not have. */
  beginMove(
    accountId: string,
    target?: ClusterNode,
  ): Promise<{ slot: number; source: ClusterNode; target: ClusterNode }>;
  /** Resolves when every master has a connected replica, and every node reports cluster_state:ok. */
  whole(): Promise<void>;
  stop(): Promise<void>;
}

export interface ClusterNode {
  readonly id: string;
  readonly server: TestServer;
  readonly redis: Redis;
}

export async function startCluster(): Promise<SixNodes> {
  const nodes = await Promise.all(Array.from({ length: 6 }, () => startNode()));
  const [first] = nodes;
  if (first === undefined) throw new Error("The cluster has no nodes.");
  const masters = nodes.slice(0, 3);
  const replicas = nodes.slice(3);
  await Promise.all(
    masters.map(({ redis }, n) =>
      redis.cluster("ADDSLOTSRANGE", Math.ceil((n * SLOTS) / 3), Math.ceil(((n + 1) * SLOTS) / 3) - 1),
    ),
  );
  for (const { server, busPort } of nodes.slice(1))
    await first.redis.call("CLUSTER", "MEET", "127.0.0.1", `${server.port}`, `${busPort}`);
  await until(async () => (await Promise.all(nodes.map(knownNodes))).every((known) => known === nodes.length));
  await Promise.all(replicas.map(({ redis }, n) => redis.cluster("REPLICATE", masters[n]?.id ?? "")));

  const masterOf = async (accountId: string, asked = first): Promise<ClusterNode> => {
    const id = await ownerOf(await slotOf(asked, accountId), asked);
    const node = nodes.find((each) => each.id === id);
    if (node === undefined) throw new Error(`No node has the id ${id}.`);
    return node;
  };
  const alive = async (): Promise<StartedNode[]> => {
    const responses = await Promise.all(
      nodes.map(({ redis }) =>
        redis.ping().then(
          () => true,
          () => false,
        ),
      ),
    );
    return nodes.filter((_, n) => responses[n]);
  };
  const cluster: SixNodes = {
    url: `redis+cluster://${nodes.map(({ server }) => `127.0.0.1:${server.port}`).join(",")}`,
    masterOf: async (accountId) => masterOf(accountId, (await alive())[0]),
    promoted: (accountId, old) =>
      until(async () => {
        const asked = await alive();
        const owners = await Promise.all(asked.map((node) => masterOf(accountId, node)));
        const healthy = await Promise.all(asked.map(isHealthy));
        return owners.every(({ id }) => id !== old.id) && healthy.every(Boolean);
      }),
    async addMaster() {
      const node = await startNode();
      nodes.push(node);
      await first.redis.call("CLUSTER", "MEET", "127.0.0.1", `${node.server.port}`, `${node.busPort}`);
      await until(async () => (await Promise.all(nodes.map(knownNodes))).every((known) => known === nodes.length));
      await until(() => isHealthy(node));
      return node;
    },
    async beginMove(accountId, to) {
      const slot = await slotOf(first, accountId);
      const source = await masterOf(accountId);
      const others = (await mastersOf(first)).flatMap((id) => nodes.filter((node) => node.id === id));
      const target = to ?? others.find(({ id }) => id !== source.id);
      if (target === undefined) throw new Error("There is no other master.");
      await target.redis.cluster("SETSLOT", slot, "IMPORTING", source.id);
      await source.redis.cluster("SETSLOT", slot, "MIGRATING", target.id);
      return { slot, source, target };
    },
    async moveSlot(accountId, pauseMs, to, moved) {
      const { slot, source, target } = await cluster.beginMove(accountId, to);
      for (let [key] = await keysIn(source, slot); key !== undefined; [key] = await keysIn(source, slot)) {
        await setTimeout(pauseMs);
        await source.redis.migrate("127.0.0.1", target.server.port, key, 0, 1_000);
      }
      await (moved?.() ?? setTimeout(pauseMs));
      await target.redis.cluster("SETSLOT", slot, "NODE", target.id);
      await source.redis.cluster("SETSLOT", slot, "NODE", target.id);
    },
    whole: () =>
      until(async () => {
        const links = await Promise.all(
          nodes.map(
            async ({ redis }) =>
              (await redis.info("replication")).match(/state=online|master_link_status:up/g)?.length ?? 0,
          ),
        );
        return links.every((count) => count === 1) && (await Promise.all(nodes.map(isHealthy))).every(Boolean);
      }),
    async stop() {
      for (const { redis } of nodes) redis.disconnect();
      await Promise.all(nodes.map(({ server }) => server.stop()));
    },
  };
  await cluster.whole();
  return cluster;
}

interface StartedNode extends ClusterNode {
  readonly busPort: number;
}

const PATIENCE_MS = 60_000;
const PORT_ATTEMPTS = 3;

async function startNode(attempt = 1): Promise<StartedNode> {
  const busPort = await freePort(); // the default is the port plus 10,000, which may exceed 65,535
  const settings = [
    "--cluster-enabled",
    "yes",
    "--cluster-port",
    `${busPort}`,
    "--cluster-node-timeout",
    `${NODE_TIMEOUT_MS}`,
    "--repl-diskless-sync-delay",
    "0",
  ];
  const server = await startRedis({ args: settings }).catch((error: unknown) => {
    if (attempt === PORT_ATTEMPTS) throw error;
  });
  if (server === undefined) return startNode(attempt + 1); // another process took the bus port meanwhile
  const redis = new Redis(server.url, { maxRetriesPerRequest: 0, enableOfflineQueue: false, retryStrategy: () => 100 });
  redis.on("error", () => undefined); // the rejected commands report it
  await once(redis, "ready");
  return { server, busPort, redis, id: await redis.cluster("MYID") };
}

function slotOf({ redis }: ClusterNode, accountId: string): Promise<number> {
  return redis.cluster("KEYSLOT", `{${accountId}}`);
}

async function keysIn({ redis }: ClusterNode, slot: number): Promise<string[]> {
  return redis.cluster("GETKEYSINSLOT", slot, 1);
}

/** Returns the id of the slot's master, according to the given node. */
async function ownerOf(slot: number, { redis }: ClusterNode): Promise<string> {
  const ranges = (await redis.call("CLUSTER", "SLOTS")) as [
    from: number,
    to: number,
    master: [host: string, port: number, id: string],
  ][];
  return ranges.find(([from, to]) => from <= slot && slot <= to)?.[2][2] ?? "";
}

async function mastersOf({ redis }: ClusterNode): Promise<string[]> {
  const ranges = (await redis.call("CLUSTER", "SLOTS")) as [
    from: number,
    to: number,
    master: [host: string, port: number, id: string],
  ][];
  return [...new Set(ranges.map(([, , [, , id]]) => id))];
}

async function knownNodes({ redis }: ClusterNode): Promise<number> {
  return Number(/cluster_known_nodes:(\d+)/.exec(await redis.cluster("INFO"))?.[1]);
}

async function isHealthy({ redis }: ClusterNode): Promise<boolean> {
  return /cluster_state:ok/.test(await redis.cluster("INFO"));
}

/** Polls until the condition holds. @throws after 60 s. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  for (const deadline = performance.now() + PATIENCE_MS; !(await holds().catch(() => false)); await setTimeout(50)) {
    if (performance.now() > deadline) throw new Error("The cluster did not reach the expected state within 60 s.");
  }
}
