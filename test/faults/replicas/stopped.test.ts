import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { LoadClient } from "../../support/load.ts";
import { Tally } from "../tally.ts";
import { BusyAccount } from "./account.ts";
import { everyCandidate, Mirror, missedBy } from "./feed.ts";
import { type Fleet, startFleet } from "./fleet.ts";
import { clearOfTheEdge } from "./edge.ts";

const SCALE = 5;
const ACCOUNT_LIMIT = 200 * SCALE;
const STORE_TIMEOUT_MS = 1_000;
/** Well above the feed's tolerance, which is the store timeout of a write plus 2 s of clock skew between replicas. */
const STOPPED_MS = STORE_TIMEOUT_MS + 2_000 + 2_000;
/** Lanes of the load on the stopped replica; the other replica gets a quarter. */
const LANES = 8;

describe("a replica whose event loop is stopped", function () {
  this.timeout(150_000);
  let fleet: Fleet;
  let account: BusyAccount;
  before(async () => {
    fleet = await startFleet(2, { LIMIT_SCALE: SCALE, LIMITER_TIMEOUT_MS: 500, STORE_TIMEOUT_MS });
  });
  after(async () => {
    fleet.members[0]?.child.kill("SIGCONT"); // in case the test failed before resuming it
    await account.stop();
    await fleet.stop();
  });

  it("is not ready while others serve; the limit stays exact, and the feed shows all its writes after it resumes", async () => {
    const [victim, other] = fleet.members as [Fleet["members"][0], Fleet["members"][0]];
    await clearOfTheEdge();
    account = await BusyAccount.make(fleet.operators, 3);
    const stopped = new LoadClient(`http://127.0.0.1:${victim.port}`, LANES);
    const serving = new LoadClient(`http://127.0.0.1:${other.port}`, LANES);
    const [onStopped, onOther] = [new Tally(), new Tally()];
    const mirror = new Mirror(serving, account.keys[1]!.key);
    const lanes = [account.creates(stopped, onStopped, LANES), account.creates(serving, onOther, LANES / 4)];
    const reading = mirror.follow();
    while (onStopped.admitted < 50) await setTimeout(10);

    victim.child.kill("SIGSTOP");
    const before = onOther.admitted;
    const ready = await fetch(`http://127.0.0.1:${victim.opsPort}/readyz`, {
      signal: AbortSignal.timeout(1_000),
    }).catch(() => undefined);
    await setTimeout(STOPPED_MS);
    const meanwhile = onOther.admitted - before;
    victim.child.kill("SIGCONT");
    const answered = onStopped.offered;
    while (onStopped.offered < answered + LANES) await setTimeout(5);

    while (onStopped.refused + onOther.refused < 50 && onOther.admitted <= 2 * ACCOUNT_LIMIT) await setTimeout(50);
    await Promise.all(lanes.map((each) => each.end()));
    await reading.end();
    const missed = await missedBy(mirror, serving, account.key);
    const store = await everyCandidate(serving, account.key);
    const charged = await account.charged(fleet.operators);
    const lost = await account.lost(serving);
    expect(ready, "readiness").to.equal(undefined);
    expect(meanwhile).to.be.above(0);
    expect([...onStopped.failures, ...onOther.failures]).to.deep.equal([]);
    expect(charged).to.equal(ACCOUNT_LIMIT);
    expect(store.size).to.be.within(account.acknowledged.size, ACCOUNT_LIMIT);
    expect(lost).to.equal(0);
    expect(missed, "candidates that the mirror missed").to.deep.equal([]);
    stopped.close();
    serving.close();
  });
});
