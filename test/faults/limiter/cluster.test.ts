import { expect } from "chai";
import { useStarted } from "../../support/use-started.ts";
import { type ClusterNode, startCluster } from "./cluster.ts";
import { endure, REPLICAS, useReplicasOver } from "./expectations.ts";

/** Until a new master is found and has been felt. */
const PROMOTION_MS = 10_000;
/** Replication is asynchronous: so many counts may have been on their way when the master fell. */
const ON_THE_WIRE = 10;

describe(`the limits of ${REPLICAS} replicas hold while a Cluster`, function () {
  this.timeout(120_000);
  const cluster = useStarted("The cluster", startCluster, (cluster) => cluster.stop());
  const service = useReplicasOver(cluster);

  it("fails over the master of the account's slot", async () => {
    let old: ClusterNode;
    const held = "exact in what the new master knows; 503 in time; well 2 s after the promotion";
    const { numbers } = await endure(
      service,
      { fault: "Cluster: the master of the account's slot is killed", held },
      {
        async strike(accountId) {
          old = await cluster.masterOf(accountId);
          await old.server.kill();
        },
        lastsMs: 0,
        heal: (accountId) => cluster.promoted(accountId, old),
        settlesWithinMs: PROMOTION_MS,
      },
    );
    expect(numbers.lost).to.be.at.most(ON_THE_WIRE);
    await old!.server.restart();
    await cluster.whole();
  });

  it("moves the account's slot to another master", async () => {
    const held = "exact; 503 in time, and only while the slot is on its way";
    const { numbers } = await endure(
      service,
      { fault: "Cluster: the account's slot is moved to another master, key by key", held },
      {
        strike: () => undefined,
        lastsMs: 0,
        heal: (accountId) => cluster.moveSlot(accountId, 100),
        painless: true,
      },
    );
    expect(numbers.lost).to.equal(0);
  });
});
