import { once } from "node:events";
import { expect } from "chai";
import { scrape } from "../../support/metrics.ts";
import { newAccount } from "../../support/service.ts";
import { type Fleet, startFleet } from "../replicas/fleet.ts";

const ROWS = 200;
const WARM_UP = 20;
const PAGES = 60;

describe("a service in steady use", function () {
  this.timeout(180_000);
  let fleet: Fleet;
  before(async () => {
    fleet = await startFleet(1, { LIMIT_SCALE: 100 }, { environments: [COLLECTING] });
  });
  after(() => fleet.stop());

  const COLLECTING = { NODE_OPTIONS: "--import ./test/faults/loop/collect.mjs" };

  it("collects all garbage at most once in ten pages of the list", async () => {
    const { client } = await newAccount(fleet.operators, fleet.url);
    const documents = Array.from({ length: 5 }, (_, n) => ({ name: `Document ${n}`, metadata: { source: "ats" } }));
    const references = Array.from({ length: 3 }, (_, n) => ({ name: `Referee ${n}`, email: `${n}@example.com` }));
    for (let n = 0; n < ROWS; n++)
      expect((await client.post("/candidates", { name: `Ada ${n}`, documents, references })).status).to.equal(201);
    const [replica] = fleet.members;
    if (replica === undefined) throw new Error("The fleet is empty.");

    const read = async (pages: number): Promise<number> => {
      for (let page = 0; page < pages; page++) {
        const headers = { Authorization: `Bearer ${client.key}` };
        const answer = await fetch(`${fleet.url}/candidates?limit=${ROWS}`, { headers });
        expect(answer.status).to.equal(200);
        await answer.arrayBuffer();
      }
      const metrics = await scrape({ opsUrl: `http://127.0.0.1:${replica.opsPort}` });
      return metrics.value("nodejs_gc_duration_seconds_count", { kind: "major" }) ?? 0;
    };
    await read(WARM_UP);
    const collected = once(replica.child, "message");
    replica.child.send("collect");
    await collected;
    const before = await read(WARM_UP);
    const after = await read(PAGES);
    expect(after - before).to.be.at.most(PAGES / 10);
  });
});
