import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { LoadClient } from "../../support/load.ts";
import { Tally } from "../tally.ts";
import { BusyAccount } from "./account.ts";
import { everyCandidate, Mirror } from "./feed.ts";
import { type Fleet, startFleet } from "./fleet.ts";
import { clearOfTheEdge, HOUR_MS } from "./edge.ts";

const SCALE = 2;
const ACCOUNT_LIMIT = 200 * SCALE;
const LANES = 8;

describe("three replicas, one with a clock that is an hour off,", function () {
  this.timeout(150_000);
  for (const [direction, shift] of [
    ["ahead", HOUR_MS],
    ["behind", -HOUR_MS],
  ] as const) {
    it(`admit exactly the limit, with correct timestamps and a complete feed, if that clock is ${direction}`, async () => {
      const shifted = {
        NODE_OPTIONS: "--import ./test/faults/replicas/shifted-clock.mjs",
        SHIFT_CLOCK_MS: String(shift),
      };
      // With a window of an hour, a replica that used its own clock would count in another window than the others.
      const settings = { LIMIT_SCALE: SCALE, LIMIT_WINDOW_SECONDS: HOUR_MS / 1000, STORE_TIMEOUT_MS: 2_000 };
      const fleet = await startFleet(3, settings, { environments: [shifted] });
      try {
        await clearOfTheEdge(undefined, HOUR_MS);
        await underLoad(fleet);
      } finally {
        await fleet.stop();
      }
    });
  }

  async function underLoad(fleet: Fleet): Promise<void> {
    const account = await BusyAccount.make(fleet.operators, 3);
    const load = new LoadClient(fleet.url, LANES + 1);
    const tally = new Tally();
    const mirror = new Mirror(load, account.keys[1]!.key);
    const began = Date.now();
    const lanes = account.creates(load, tally, LANES);
    const reading = mirror.follow();
    // Also end if too many are admitted: the expectations below then fail.
    while (tally.refused < 20 && tally.admitted <= 2 * ACCOUNT_LIMIT) await setTimeout(20);
    await lanes.end();
    const ended = Date.now();
    await reading.end();
    await mirror.catchUp();
    const store = await everyCandidate(load, account.key);
    const stamps = [...store.values()].map(({ updated_at }) => updated_at);
    const wrong = stamps.filter(
      (stamp) => Date.parse(stamp) < began - 1_000 || Date.parse(stamp) > ended + 1_000,
    ).length;
    const missed = [...store.keys()].filter((id) => !mirror.candidates.has(id)).length;
    const lost = await account.lost(load);
    const byShifted = fleet.members[0]!.log.filter(({ surface }) => surface === "create").length;
    load.close();
    expect(byShifted, "the replica with the wrong clock had its share").to.be.above(10);
    expect(tally.admitted).to.equal(ACCOUNT_LIMIT);
    expect(tally.failures).to.deep.equal([]);
    expect({ wrong, missed, lost }).to.deep.equal({ wrong: 0, missed: 0, lost: 0 });
    expect(stamps).to.deep.equal(stamps.toSorted());
  }
});
