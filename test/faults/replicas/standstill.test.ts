import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import type { Candidate } from "../../../src/candidates/schema.ts";
import { LoadClient } from "../../support/load.ts";
import { REQUESTS } from "../../support/requests.ts";
import { Tally } from "../tally.ts";
import { type Fleet, startFleet } from "./fleet.ts";
import { Lanes } from "./lanes.ts";

const LANES = 48;
const STOPS_MS = Array.from({ length: 15 }, (_, n) => 300 + (n % 4) * 200);
/** Between two stops. Short, so that most requests are under way when a stop comes, and some stay so for several. */
const RUN_MS = 20;

describe("a replica that stands still for 0.3 to 0.9 s again and again", function () {
  this.timeout(60_000);
  let fleet: Fleet;
  before(async () => {
    fleet = await startFleet(1, { LIMIT_SCALE: 10_000, LIMITER_TIMEOUT_MS: 250 });
  });
  after(() => fleet?.stop());

  it("gives no request with 503, keeps its connections, and charges each request once", async () => {
    const [{ child, port, log }] = fleet.members as [Fleet["members"][0]];
    const { id: accountId } = await fleet.operators.accounts.createAccount({ name: "Test" });
    const { id: keyId, key } = await fleet.operators.accounts.createKey({ accountId, name: "test" });
    const load = new LoadClient(`http://127.0.0.1:${port}`, LANES);
    const created = await load.send(REQUESTS.create(key, ""));
    const { id } = JSON.parse(created.body) as Candidate;
    const tally = new Tally();
    const lanes = new Lanes(LANES, (lane) => tally.send(load, REQUESTS[lane % 2 === 0 ? "reads" : "list"](key, id)));
    try {
      for (const ms of STOPS_MS) {
        await setTimeout(RUN_MS);
        child.kill("SIGSTOP");
        await setTimeout(ms);
        child.kill("SIGCONT");
      }
    } finally {
      child.kill("SIGCONT");
      await lanes.end();
      load.close();
    }
    const { surfaces } = await fleet.operators.usage({ accountId, keyId });
    const charged = surfaces
      .filter(({ surface }) => surface !== "create")
      .reduce((total, { account }) => total + account.used, 0);
    const lost = log.map(({ msg }) => msg).filter((msg) => msg === "Redis connection failed" || msg.includes("stuck"));
    expect(tally.failures).to.deep.equal([]);
    expect({ unavailable: tally.unavailable, lost }).to.deep.equal({ unavailable: 0, lost: [] });
    expect(charged).to.equal(tally.admitted);
  });
});
