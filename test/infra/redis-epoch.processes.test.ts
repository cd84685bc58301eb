import { EventEmitter } from "node:events";
import { setTimeout } from "node:timers/promises";
import type { Cluster } from "ioredis";
import { expect } from "chai";
import { RedisEpoch } from "../../src/infra/redis-epoch.ts";
import { connectRedis, type RedisClient } from "../../src/infra/redis.ts";
import { startProxy } from "../limiter/proxy.ts";
import { useRedisClient } from "../support/servers.ts";
import { useStarted } from "../support/use-started.ts";
import { asking, FORMS, startStandalone } from "./redis-forms.ts";

/** Resolves when the client's commands are answered again. No event says so in every form. */
async function responds(client: RedisClient): Promise<void> {
  while (
    await client.get("any").then(
      () => false,
      () => true,
    )
  )
    await setTimeout(5);
}

for (const [form, start] of Object.entries(FORMS))
  describe(`the epoch of a client of ${form}`, () => {
    const redis = useStarted(form, start, (started) => started.stop());
    const client = useRedisClient(redis);

    it("lasts as long as the connection, and is another one when commands are answered again", async () => {
      const epoch = new RedisEpoch(client);
      for (let cut = 0; cut < 2; cut++) {
        const [before, connections] = [epoch.of("acct_1"), epoch.connections];
        for (let command = 0; command < 10; command++) await client.get("any");
        expect(epoch.of("acct_1")).to.equal(before);
        const lost = new Promise((resolve) => void client.once("close", resolve));
        await asking(redis.server.url, (own) => own.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"));
        await lost;
        await responds(client);
        expect(epoch.of("acct_1")).not.to.equal(before);
        expect(epoch.connections).to.be.above(connections);
      }
    });
  });

describe("the epoch of a client", () => {
  it("is another one after the network has cut the connection and let the client come back", async () => {
    const server = await startStandalone();
    const proxy = await startProxy(server.server.port);
    const client = await connectRedis({ url: proxy.url, timeoutMs: 5_000 });
    try {
      const epoch = new RedisEpoch(client);
      const before = epoch.of("acct_1");
      const lost = new Promise((resolve) => void client.once("close", resolve));
      proxy.refuse();
      await lost;
      expect(epoch.of("acct_1"), "until it is connected again").to.equal(before);
      proxy.mend();
      await responds(client);
      expect(epoch.of("acct_1")).to.equal((before as number) + 1);
    } finally {
      client.disconnect();
      proxy.close();
      await server.stop();
    }
  });

  /** A cluster that has one node from the start. A real one connects to a node only when it sends it a command. */
  function cluster() {
    const node = new EventEmitter();
    const slots = Array.from({ length: 16_384 }, () => ["first:7000"]);
    const client = { isCluster: true, slots, nodes: () => [node], on: () => undefined } as unknown as Cluster;
    return { node, slots, epoch: new RedisEpoch(client) };
  }

  it("is another one for the accounts of a cluster that another master serves, and for no other account", () => {
    const { slots, epoch } = cluster();
    // CLUSTER KEYSLOT says 12182 for foo, and 5061 for bar.
    const [foo, bar] = [epoch.of("foo"), epoch.of("bar")];
    slots[5061] = ["second:7000"];
    expect(epoch.of("foo")).to.equal(foo);
    expect(epoch.of("bar")).not.to.equal(bar);
  });

  it("is another one after a cluster has connected to a node that it knew from the start", () => {
    const { node, epoch } = cluster();
    const before = epoch.of("foo");
    node.emit("ready");
    expect(epoch.of("foo")).not.to.equal(before);
    expect(epoch.connections).to.equal(1);
  });
});
