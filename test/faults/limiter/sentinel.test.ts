import { expect } from "chai";
import { useStarted } from "../../support/use-started.ts";
import { endure, REPLICAS, useReplicasOver } from "./expectations.ts";
import { startTrio } from "./sentinel.ts";

const HELD = "exact in what the new master knows; 503 in time; well 2 s after the promotion";
/** Longer than a failover takes. */
const PAUSE_MS = 15_000;
/** Until a new master is found and has been felt. */
const PROMOTION_MS = 10_000;
/** Replication is asynchronous: so many counts may have been on their way when the master fell. */
const ON_THE_WIRE = 10;
/** A master that was told to step down is made a replica some 8 s after its successor was. */
const DEMOTION_MS = 15_000;

describe(`the limits of ${REPLICAS} replicas hold while Sentinel fails over`, function () {
  this.timeout(120_000);
  const trio = useStarted("The trio", startTrio, (trio) => trio.stop());
  const service = useReplicasOver(trio);

  it("because the master was killed", async () => {
    const old = await trio.master();
    try {
      const { numbers } = await endure(
        service,
        { fault: "Sentinel: the master is killed, min-replicas-to-write 1", held: HELD },
        {
          strike: () => old.kill(),
          lastsMs: 0,
          heal: () => trio.promoted(old),
          settlesWithinMs: PROMOTION_MS,
        },
      );
      expect(numbers.lost).to.be.at.most(ON_THE_WIRE);
    } finally {
      await old.restart();
      await trio.whole();
    }
  });

  it("because the master hangs", async () => {
    const old = await trio.master();
    try {
      const { numbers } = await endure(
        service,
        { fault: "Sentinel: the master is paused (SIGSTOP) until another is promoted", held: HELD },
        {
          strike: () => old.pause(),
          lastsMs: 0,
          heal: () => trio.promoted(old),
          settlesWithinMs: PROMOTION_MS,
        },
      );
      expect(numbers.lost).to.be.at.most(ON_THE_WIRE);
    } finally {
      old.resume();
      await trio.whole();
    }
  });

  it("because an operator says so, having stopped all writes first", async () => {
    const old = await trio.master();
    const { numbers } = await endure(
      service,
      { fault: "CLIENT PAUSE … WRITE on the master, then SENTINEL FAILOVER", held: `nothing lost; ${HELD}` },
      {
        async strike() {
          await trio.pauseWrites(PAUSE_MS);
          await trio.failover();
        },
        lastsMs: 0,
        heal: () => trio.promoted(old),
        settled: () => trio.whole(),
        settlesWithinMs: DEMOTION_MS,
      },
    );
    expect(numbers.lost).to.equal(0);
  });

  it("because an operator says so", async () => {
    const old = await trio.master();
    await endure(
      service,
      { fault: "SENTINEL FAILOVER, min-replicas-to-write 1", held: HELD },
      {
        strike: () => trio.failover(),
        lastsMs: 0,
        heal: () => trio.promoted(old),
        settled: () => trio.whole(),
        settlesWithinMs: DEMOTION_MS,
        painless: true,
      },
    );
  });
});
