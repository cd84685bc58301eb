import { connect } from "node:net";
import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { MAX_STOP_MS, MAX_LISTEN_MS } from "../../../src/process/drain.ts";
import { LoadClient } from "../../support/load.ts";
import { Tally } from "../tally.ts";
import { BusyAccount } from "./account.ts";
import { type Fleet, startFleet } from "./fleet.ts";
import { clearOfTheEdge } from "./edge.ts";

const LANES = 12;
/** Average rest of a lane after a response, in milliseconds. All lanes together then send about 200 requests a second. */
const REST_MS = 40;
/** A longer rest: all lanes together send about 20 requests a second. A replica that is to stop still goes on listening. */
const LONG_REST_MS = 600;
/** Time between two connections without a request, in milliseconds. They come even while all lanes wait for MongoDB. */
const KNOCK_MS = 100;
/** The limits are far above the load, so the tests compare the number of charges instead. */
const SETTINGS = { LIMIT_SCALE: 1_000 };

describe("processes of the service behind a balancer", function () {
  this.timeout(180_000);
  let fleet: Fleet;
  let account: BusyAccount;
  let load: LoadClient;
  let tally: Tally;
  async function start(size: number, settings: Parameters<typeof startFleet>[1]): Promise<void> {
    await clearOfTheEdge();
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

  async function expectNothingFailed(exitCodes: (number | null)[]): Promise<void> {
    const lost = await account.lost(load);
    const charged = await account.charged(fleet.operators);
    expect(tally.failures).to.deep.equal([]);
    expect(lost).to.equal(0);
    expect(charged).to.equal(tally.offered);
    expect(tally.admitted).to.equal(tally.offered);
    expect(exitCodes).to.deep.equal(exitCodes.map(() => 0));
  }

  it("fail no request while all are restarted one after the other", async () => {
    await start(3, {});
    const lanes = account.creates(load, tally, LANES, REST_MS);
    const exitCodes = [];
    for (const member of Array.from(fleet.members)) {
      await fleet.join();
      exitCodes.push(await member.end("SIGTERM"));
    }
    await lanes.end();
    await expectNothingFailed(exitCodes);
  });

  it("fail no request when one of two, with two replicas each, gets SIGTERM", async () => {
    await start(2, { REPLICAS: 2 });
    const lanes = account.creates(load, tally, LANES, REST_MS);
    while (tally.admitted < 100) await new Promise(setImmediate);
    const exitCode = await fleet.members[0]!.end("SIGTERM");
    const before = tally.admitted;
    while (tally.admitted < before + 100) await new Promise(setImmediate);
    await lanes.end();
    await expectNothingFailed([exitCode]);
  });

  // When a port closes, the kernel resets the connections that were not accepted yet. No server can prevent that while
  // clients keep connecting. The service has read nothing of such a request, so the client may send it again.
  it("leave no request half done if clients keep connecting to one that gets SIGTERM", async () => {
    await start(2, {});
    const [stopped] = fleet.members as [Fleet["members"][0]];
    const direct = new LoadClient(`http://127.0.0.1:${stopped.port}`, LANES);
    const busy = () => account.creates(direct, tally, LANES, REST_MS);
    let lanes = busy();
    while (tally.admitted < 100) await setTimeout(10);
    const started = performance.now();
    const knocking = setInterval(
      () =>
        connect(stopped.port, "127.0.0.1")
          .on("error", () => undefined)
          .end(),
      KNOCK_MS,
    );
    const ended = stopped.end("SIGTERM");
    await setTimeout(1_000);
    const few = account.creates(direct, tally, LANES, LONG_REST_MS);
    await lanes.end();
    await setTimeout(MAX_LISTEN_MS - 3_000);
    expect(tally.failures, "while it still listens").to.deep.equal([]);
    clearInterval(knocking);
    lanes = busy();
    await few.end();
    const exitCode = await ended;
    const tookMs = performance.now() - started;
    await lanes.end();
    direct.close();
    const charged = await account.charged(fleet.operators);
    const lost = await account.lost(load);
    const answered = tally.admitted;
    expect(exitCode).to.equal(0);
    expect(tookMs).to.be.below(MAX_STOP_MS);
    expect(charged, "requests that were carried out").to.equal(answered);
    expect(lost).to.equal(0);
    expect(tally.failures.filter((line) => !/ECONNREFUSED|ECONNRESET|socket hang up/.test(line))).to.deep.equal([]);
  });
});
