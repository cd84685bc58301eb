import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { termsOf } from "../../grants/support.ts";
import { accountWithKeys } from "../../support/processes.ts";
import { useStarted } from "../../support/use-started.ts";
import { type ClusterNode, startCluster } from "./cluster.ts";
import { expectExactLimits, expectLimitsHold, REPLICAS, useReplicasOver } from "./expectations.ts";

/** Maximum time until a replica is promoted and the service has noticed. */
const PROMOTION_MS = 10_000;
/** Longer than ioredis tries a command again that gets TRYAGAIN. */
const MOVE_PAUSE_MS = 2_000;
/** Longer than the slotsRefreshInterval of the client, and shorter than LIMITER_TIMEOUT_MS. */
const STANDSTILL_MS = 1_500;
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
});

describe(`the limits of ${REPLICAS} replicas hold, and no request fails, while a Cluster`, function () {
  this.timeout(120_000);
  const cluster = useStarted("The cluster", startCluster, (cluster) => cluster.stop());
  // With the time that the other faults are given, a busy machine alone would make some charges too late.
  const service = useReplicasOver(cluster, { LIMITER_TIMEOUT_MS: 5_000 });

  async function expectNothingFelt(target?: ClusterNode): Promise<void> {
    const { unavailable } = await expectExactLimits(service, {
      strike: () => undefined,
      lastsMs: 0,
      heal: (accountId) => cluster.moveSlot(accountId, MOVE_PAUSE_MS, target),
      settlesWithinMs: 2 * MOVE_PAUSE_MS,
      mayGoUnnoticed: true,
    });
    expect(unavailable).to.deep.equal([]);
  }

  it("moves the account's slot to another master", () => expectNothingFelt());

  it("moves the account's slot to a new master, which has no slots yet", async () =>
    expectNothingFelt(await cluster.addMaster()));

  it("moves the account's slot to a new master, which has the keys, not yet the slot, and stands still", async () => {
    const { id, keys } = await accountWithKeys(service, 1);
    const list = async () => (await keys[0]!.client.get("/candidates")).status;
    expect(await list()).to.equal(200);
    const target = await cluster.addMaster();
    await cluster.moveSlot(id, 0, target, async () => {
      target.server.pause();
      const waiting = Promise.all([list(), list()]);
      await setTimeout(STANDSTILL_MS);
      target.server.resume();
      expect(await waiting).to.deep.equal([200, 200]);
    });
  });

  it("cannot end a move because the new master is gone, but for a draw on a grant, which would be there", async () => {
    const { id, keys } = await accountWithKeys(service, 1);
    const write = async () => (await keys[0]!.client.patch("/settings/assistant", {})).status;
    while ((await write()) === 200);
    const { slot, source, target } = await cluster.beginMove(id, await cluster.addMaster());
    await target.server.kill();
    expect(await write()).to.equal(503);
    expect((await keys[0]!.client.get("/candidates")).status).to.equal(200);
    await source.redis.cluster("SETSLOT", slot, "STABLE");
    expect(await write()).to.equal(429);
  });

  it("moves the slot of an account while its limits are read, and a grant is issued, drawn on and revoked", async () => {
    const { id, keys } = await accountWithKeys(service, 1);
    const { id: keyId, client } = keys[0]!;
    const write = async () => (await client.patch("/settings/assistant", {})).status;
    while ((await write()) === 200);
    let moved = false;
    const moving = cluster.moveSlot(id, MOVE_PAUSE_MS).finally(() => (moved = true));
    const { grants, accounts } = service.operators;
    for (let rounds = 0; !moved || rounds === 0; rounds++) {
      const grant = await grants.create(termsOf(keyId, { surface: "settings", amount: 2 }));
      expect(JSON.stringify((await client.get("/limits")).body)).to.include(grant.id);
      expect([await write(), await write(), await write()]).to.deep.equal([200, 200, 429]);
      await grants.revoke(grant.id);
      await accounts.setStatus(id, "suspended");
      expect(await write()).to.equal(403);
      await accounts.setStatus(id, "active");
    }
    await moving;
  });
});
