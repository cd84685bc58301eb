import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { LoadClient } from "../../support/load.ts";
import { useProcesses } from "../../support/use-service.ts";
import { Tally } from "../tally.ts";
import { BusyAccount } from "./account.ts";
import { clearOfTheEdge } from "./edge.ts";

/** At this scale the limit of creates is 600 for an account and 300 for a key. */
const SCALE = 3;
const ACCOUNT_LIMIT = 200 * SCALE;
const LANES = 12;

describe("replicas that share a port", function () {
  this.timeout(150_000);
  const service = useProcesses({ REPLICAS: 4, LIMIT_SCALE: SCALE });
  let account: BusyAccount;
  let load: LoadClient;
  let tally: Tally;
  beforeEach(async () => {
    await clearOfTheEdge();
    account = await BusyAccount.make(service.operators, 3);
    load = new LoadClient(service.url, LANES);
    tally = new Tally();
  });
  afterEach(async () => {
    await account.stop();
    load.close();
  });

  it("lose no acknowledged write when three of them are killed with SIGKILL under load, and admit exactly the limit", async () => {
    const lanes = account.creates(load, tally, LANES);
    const killed = new Set<number>();
    while (killed.size < 3) {
      const { pid: victim } = await service.logged(({ pid, surface }) => surface === "create" && !killed.has(pid));
      process.kill(victim, "SIGKILL");
      killed.add(victim);
    }
    while (tally.refused < 50 && tally.admitted <= 2 * ACCOUNT_LIMIT) await setTimeout(50);
    await lanes.end();
    const lost = await account.lost(load);
    const charged = await account.charged(service.operators);
    expect(lost).to.equal(0);
    expect(charged).to.equal(ACCOUNT_LIMIT);
    expect(tally.admitted).to.be.within(ACCOUNT_LIMIT - tally.failures.length, ACCOUNT_LIMIT);
    expect(tally.failures.filter((line) => !/ECONNRESET|socket hang up|EPIPE/.test(line))).to.deep.equal([]);
    expect(tally.failures, "somebody was cut off").not.to.have.length(0);
  });

  it("fail no request when one of them gets SIGTERM under load", async () => {
    const lanes = account.creates(load, tally, LANES);
    const { pid } = await service.logged(({ surface }) => surface === "create");
    const stopped = service.logged(({ msg, pid: its }) => msg === "stopped" && its === pid);
    process.kill(pid, "SIGTERM");
    await stopped;
    while (tally.refused < 50 && tally.admitted <= 2 * ACCOUNT_LIMIT) await setTimeout(50);
    await lanes.end();
    const lost = await account.lost(load);
    expect(tally.failures).to.deep.equal([]);
    expect(lost).to.equal(0);
    expect(tally.admitted).to.equal(ACCOUNT_LIMIT);
  });
});
