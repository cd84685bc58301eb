import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { expect } from "chai";
import { scrape } from "../../support/metrics.ts";
import { newAccount } from "../../support/service.ts";
import { type Fleet, startFleet } from "../replicas/fleet.ts";

const ROWS = 200;
const WARM_UP = 20;
const PAGES = 60;
const FILES = 20;
const FILE_BYTES = 3 << 20;

describe("a service in steady use", function () {
  this.timeout(180_000);
  let fleet: Fleet;
  before(async () => {
    fleet = await startFleet(1, { LIMIT_SCALE: 100 }, { environments: [COLLECTING] });
  });
  after(() => fleet.stop());

  const COLLECTING = { NODE_OPTIONS: "--import ./test/faults/loop/collect.mjs" };

  /** Returns the number of full collections that `times` runs of `work` bring. A warm-up with a full collection goes first. */
  async function collectionsIn(times: number, work: () => Promise<void>): Promise<number> {
    const [replica] = fleet.members;
    if (replica === undefined) throw new Error("The fleet is empty.");
    const after = async (runs: number): Promise<number> => {
      for (let run = 0; run < runs; run++) await work();
      const metrics = await scrape({ opsUrl: `http://127.0.0.1:${replica.opsPort}` });
      return metrics.value("nodejs_gc_duration_seconds_count", { kind: "major" }) ?? 0;
    };
    await after(WARM_UP);
    const collected = once(replica.child, "message");
    replica.child.send("collect");
    await collected;
    const before = await after(WARM_UP);
    return (await after(times)) - before;
  }

  it("collects all garbage at most once in ten uploads and downloads", async () => {
    const { client } = await newAccount(fleet.operators, fleet.url);
    const made = await client.post("/candidates", { documents: ["Passport"] });
    const { id, documents } = made.body as { id: string; documents: { id: string }[] };
    const content = `${fleet.url}/candidates/${id}/documents/${documents[0]?.id}/content`;
    const headers = { Authorization: `Bearer ${client.key}` };
    const body = randomBytes(FILE_BYTES);
    const collections = await collectionsIn(FILES, async () => {
      expect((await fetch(content, { method: "PUT", headers, body })).status).to.equal(200);
      expect((await (await fetch(content, { headers })).arrayBuffer()).byteLength).to.equal(FILE_BYTES);
    });
    expect(collections).to.be.at.most((2 * FILES) / 10);
  });

  it("collects all garbage at most once in ten pages of the list", async () => {
    const { client } = await newAccount(fleet.operators, fleet.url);
    const documents = Array.from({ length: 5 }, (_, n) => ({ name: `Document ${n}`, metadata: { source: "ats" } }));
    const references = Array.from({ length: 3 }, (_, n) => ({ name: `Referee ${n}`, email: `${n}@example.com` }));
    for (let n = 0; n < ROWS; n++)
      expect((await client.post("/candidates", { name: `Ada ${n}`, documents, references })).status).to.equal(201);
    const headers = { Authorization: `Bearer ${client.key}` };
    const collections = await collectionsIn(PAGES, async () => {
      const answer = await fetch(`${fleet.url}/candidates?limit=${ROWS}`, { headers });
      expect(answer.status).to.equal(200);
      await answer.arrayBuffer();
    });
    expect(collections).to.be.at.most(PAGES / 10);
  });
});
