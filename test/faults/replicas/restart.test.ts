import { expect } from "chai";
import { LoadClient } from "../../support/load.ts";
import { record } from "../report.ts";
import { Tally } from "../tally.ts";
import { BusyAccount } from "./account.ts";
import { type Fleet, startFleet } from "./fleet.ts";
import { clearOfTheHour } from "./hour.ts";

const LANES = 12;
/** The limits are far above the load, so the tests compare the number of charges instead. */
const SETTINGS = { LIMIT_SCALE: 1_000 };

describe("processes of the service behind a balancer", function () {
  this.timeout(180_000);
  let fleet: Fleet;
  let account: BusyAccount;
  let load: LoadClient;
  let tally: Tally;
  async function start(size: number, settings: Parameters<typeof startFleet>[1]): Promise<void> {
    await clearOfTheHour();
    fleet = await startFleet(size, { ...SETTINGS, ...settings });
    account = await BusyAccount.make(fleet.operators, 1);
    load = new LoadClient(fleet.url, LANES);
    tally = new Tally();
  }
  afterEach(async () => {
    await account.stop();
    load.close();
    await fleet.stop();
  });

  async function expectNothingFailed(fault: string, exitCodes: (number | null)[]): Promise<void> {
    const lost = await account.lost(load);
    const charged = await account.charged(fleet.operators);
    record({
      fault,
      held: "no failed request; each charged once",
      ...tally.counts(),
      lost,
      note: `charged ${charged}`,
    });
    expect(tally.failures).to.deep.equal([]);
    expect(lost).to.equal(0);
    expect(charged).to.equal(tally.offered);
    expect(tally.admitted).to.equal(tally.offered);
    expect(exitCodes).to.deep.equal(exitCodes.map(() => 0));
  }

  it("fail no request while all are restarted one after the other", async () => {
    await start(3, {});
    const lanes = account.creates(load, tally, LANES);
    const exitCodes = [];
    for (const member of Array.from(fleet.members)) {
      await fleet.join();
      exitCodes.push(await member.end("SIGTERM"));
    }
    await lanes.end();
    await expectNothingFailed("rolling restart of three replicas behind a balancer", exitCodes);
  });

  it("fail no request when one of two, with two replicas each, gets SIGTERM", async () => {
    await start(2, { REPLICAS: 2 });
    const lanes = account.creates(load, tally, LANES);
    while (tally.admitted < 100) await new Promise(setImmediate);
    const exitCode = await fleet.members[0]!.end("SIGTERM");
    const before = tally.admitted;
    while (tally.admitted < before + 100) await new Promise(setImmediate);
    await lanes.end();
    await expectNothingFailed("SIGTERM to one of two services of two replicas each", [exitCode]);
  });
});
