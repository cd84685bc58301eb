import { expect } from "chai";
import { useStarted } from "../../support/use-started.ts";
import { expectLimitsHold, REPLICAS, useReplicasOver } from "./expectations.ts";
import { startTrio } from "./sentinel.ts";

/** Longer than a failover takes. */
const PAUSE_MS = 15_000;
/** Maximum time until a replica is promoted and the service has noticed. */
const PROMOTION_MS = 10_000;
/** Maximum number of lost charges. Replication is asynchronous, so the last charges may not have reached the new master. */
const ON_THE_WIRE = 10;
/** Maximum time until the old master is a replica. */
const DEMOTION_MS = 5_000;

describe(`the limits of ${REPLICAS} replicas hold while Sentinel fails over`, function () {
  this.timeout(120_000);
  const trio = useStarted("The trio", startTrio, (trio) => trio.stop());
  const service = useReplicasOver(trio);
  beforeEach(() => trio.demotionHeard());

  it("because the master was killed", async () => {
    const old = await trio.master();
    try {
      const { lost } = await expectLimitsHold(service, {
        strike: () => old.kill(),
        lastsMs: 0,
        heal: () => trio.promoted(old),
        settlesWithinMs: PROMOTION_MS,
      });
      expect(lost).to.be.at.most(ON_THE_WIRE);
    } finally {
      await old.restart();
      await trio.whole();
    }
  });

  it("because the master hangs", async () => {
    const old = await trio.master();
    try {
      const { lost } = await expectLimitsHold(service, {
        strike: () => old.pause(),
        lastsMs: 0,
        heal: () => trio.promoted(old),
        settlesWithinMs: PROMOTION_MS,
      });
      expect(lost).to.be.at.most(ON_THE_WIRE);
    } finally {
      old.resume();
      await trio.whole();
    }
  });

  it("because an operator paused all writes and requested it", async () => {
    const old = await trio.master();
    const { lost } = await expectLimitsHold(service, {
      async strike() {
        await trio.pauseWrites(PAUSE_MS);
        await trio.failover();
      },
      lastsMs: 0,
      heal: () => trio.promoted(old),
      settled: () => trio.whole(),
      settlesWithinMs: DEMOTION_MS,
    });
    expect(lost).to.equal(0);
  });

  it("because an operator requested it", async () => {
    const old = await trio.master();
    await expectLimitsHold(service, {
      strike: () => trio.failover(),
      lastsMs: 0,
      heal: () => trio.promoted(old),
      settled: () => trio.whole(),
      settlesWithinMs: DEMOTION_MS,
      mayGoUnnoticed: true,
    });
  });
});
