import { expect } from "chai";
import { useStarted } from "../../support/use-started.ts";
import { type ClusterNode, startCluster } from "./cluster.ts";
import { expectLimitsHold, REPLICAS, useReplicasOver } from "./expectations.ts";

/** Maximum time until a replica is promoted and the service has noticed. */
const PROMOTION_MS = 10_000;
/** Maximum number of lost charges. Replication is asynchronous, so the last charges may not have reached the new master. */
const ON_THE_WIRE = 10;

describe(`the limits of ${REPLICAS} replicas hold while a Cluster`, function () {
  this.timeout(120_000);
  const cluster = useStarted("The cluster", startCluster, (cluster) => cluster.stop());
  const service = useReplicasOver(cluster);

  it("fails over the master of the account's slot", async () => {
    let old: ClusterNode;
    const { lost } = await expectLimitsHold(service, {
      async strike(accountId) {
        old = await cluster.masterOf(accountId);
        await old.server.kill();
      },
      lastsMs: 0,
      heal: (accountId) => cluster.promoted(accountId, old),
      settlesWithinMs: PROMOTION_MS,
    });
    expect(lost).to.be.at.most(ON_THE_WIRE);
    await old!.server.restart();
    await cluster.whole();
  });

  it("moves the account's slot to another master", async () => {
    const { lost } = await expectLimitsHold(service, {
      strike: () => undefined,
      lastsMs: 0,
      heal: (accountId) => cluster.moveSlot(accountId, 100),
      mayGoUnnoticed: true,
    });
    expect(lost).to.equal(0);
  });
});
