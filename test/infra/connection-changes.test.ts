import { EventEmitter } from "node:events";
import { expect } from "chai";
import { RedisEpoch } from "../../src/infra/redis-epoch.ts";
import type { RedisClient } from "../../src/infra/redis.ts";

/** Says that a connection was lost, and then made. Returns how often it counted each time. */
function lostAndMade(epoch: RedisEpoch, node: EventEmitter): { changes: number[]; connections: number[] } {
  const counts = (["close", "ready"] as const).map((event) => {
    const before = [epoch.changes, epoch.connections] as const;
    node.emit(event);
    return [epoch.changes - before[0], epoch.connections - before[1]] as const;
  });
  return { changes: counts.map(([changes]) => changes), connections: counts.map(([, connections]) => connections) };
}

const COUNTED = { changes: [1, 1], connections: [0, 1] };

describe("a lost connection to Redis, and one that was made,", () => {
  it("are changes; the second is another connection", () => {
    const client = Object.assign(new EventEmitter(), { isCluster: false });
    const epoch = new RedisEpoch(client as unknown as RedisClient);
    expect(lostAndMade(epoch, client)).to.deep.equal(COUNTED);
    expect(lostAndMade(epoch, client)).to.deep.equal(COUNTED);
  });

  it("are so for every node of a cluster, also for one that joins later", () => {
    const [master, replica, late] = [new EventEmitter(), new EventEmitter(), new EventEmitter()];
    const nodes = (role: "all" | "master") => (role === "all" ? [master, replica] : [master]);
    const cluster = Object.assign(new EventEmitter(), { isCluster: true, nodes });
    const epoch = new RedisEpoch(cluster as unknown as RedisClient);
    cluster.emit("+node", late);
    for (const node of [master, replica, late]) expect(lostAndMade(epoch, node)).to.deep.equal(COUNTED);
  });
});
