import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import type { Candidate } from "../../../src/candidates/schema.ts";
import { LoadClient } from "../../support/load.ts";
import { primaryOf } from "../../support/mongo-url.ts";
import { Mirror, everyCandidate } from "../replicas/feed.ts";
import { type Fleet, startFleet } from "../replicas/fleet.ts";
import { skip } from "../skip.ts";
import { Tally } from "../tally.ts";
import { type Network, startNetwork } from "./network.ts";

const STORE_TIMEOUT_MS = 1_500;
/** Longer than the feed's tolerance for slow writes and clock skew: readers have already passed the write's position. */
const HELD_MS = STORE_TIMEOUT_MS + 2_000 + 500;

describe("a write that reaches MongoDB after its caller was answered 503", function () {
  this.timeout(60_000);
  let network: Network;
  let fleet: Fleet;
  let load: LoadClient;
  let key: string;
  before(async function () {
    const primary = await primaryOf(process.env.MONGODB_URL ?? "");
    if (primary.tls)
      skip(this, "it looks for a write on its way to MongoDB, and the connection of MONGODB_URL is encrypted");
    network = await startNetwork(primary.port, primary.host);
    fleet = await startFleet(1, {
      MONGODB_URL: primary.through(`127.0.0.1:${network.port}`, `late-${process.pid}`),
      STORE_TIMEOUT_MS,
      LIMIT_SCALE: 1_000,
      LIMITER_TIMEOUT_MS: 5_000,
    });
    load = new LoadClient(fleet.url, 4);
  });
  beforeEach(async () => {
    const { id } = await fleet.operators.accounts.createAccount({ name: "Test" });
    ({ key } = await fleet.operators.accounts.createKey({ accountId: id, name: "test" }));
  });
  after(async () => {
    load?.close();
    await fleet?.stop();
    network?.close();
  });

  it("appears on the feed or is not made at all, if it is an update", async () => {
    const { id } = await created({ name: "before" });
    await expectMirrored("PATCH", `/candidates/${id}`, { name: "held up", references_required: 3 });
  });

  it("appears on the feed, if it is a create", async () => {
    const store = await expectMirrored("POST", "/candidates", {
      name: "held up",
      documents: ["CV"],
      references: [{ name: "Ann" }],
    });
    expect([...store.values()].map(({ name }) => name)).to.have.members(["held up", "meanwhile"]);
  });

  it("is seen by a poller that sends the largest updated_at as updated_since, if it lands after a later write", async () => {
    const seen = new Set<string>();
    let since = new Date().toISOString();
    const poll = async (): Promise<void> => {
      const { body } = await load.send({ method: "GET", path: `/candidates?updated_since=${since}`, key });
      for (const { id, updated_at } of (JSON.parse(body) as { data: Candidate[] }).data) {
        seen.add(id);
        if (updated_at > since) since = updated_at;
      }
    };
    network.holds = (data) => data.includes("held up");
    const slow = created({ name: "held up" });
    while (network.held === 0) await setTimeout(1);
    network.holds = () => false;
    const later = await created({ name: "meanwhile" });
    await poll();
    network.release();
    const { id, updated_at } = await slow;
    expect(updated_at < later.updated_at, "its place is before what the poller has seen").to.equal(true);
    expect([...seen], "before").to.deep.equal([later.id]);
    await poll();
    expect([...seen], "after").to.have.members([later.id, id]);
  });

  /** Delays a write on its way to the store, and expects that a mirror, which reads meanwhile, ends up equal to the store. */
  async function expectMirrored(method: "POST" | "PATCH", path: string, body: object): Promise<Map<string, Candidate>> {
    const tally = new Tally(fleet.members.map(({ child }) => child.pid));
    const mirror = new Mirror(load, key);
    network.holds = (data) => data.includes("held up");
    await tally.send(load, { method, path, key, body: JSON.stringify(body) });
    network.holds = () => false;
    expect(network.held, "the write is on its way").to.equal(1);
    await created({ name: "meanwhile" });
    await setTimeout(HELD_MS);
    await mirror.catchUp();
    network.release();
    const began = performance.now();
    let store = new Map<string, Candidate>();
    let differ: string[] = ["not compared"];
    // Give the delayed write a moment to be made, and a late create a moment to appear on the feed.
    for (
      const settled = began + 1_000;
      (differ.length > 0 || performance.now() < settled) && performance.now() < began + 15_000;
      await setTimeout(100)
    ) {
      await mirror.catchUp();
      store = await everyCandidate(load, key);
      differ = [...store.values()]
        .filter((row) => JSON.stringify(mirror.candidates.get(row.id)) !== JSON.stringify(row))
        .map(({ id }) => id);
    }
    expect(tally.unavailable).to.equal(1);
    expect(tally.slowestUnavailableMs).to.be.below(STORE_TIMEOUT_MS + 1_000);
    expect(differ).to.deep.equal([]);
    return store;
  }

  async function created(body: object): Promise<Candidate> {
    const response = await load.send({ method: "POST", path: "/candidates", key, body: JSON.stringify(body) });
    expect(response.status).to.equal(201);
    return JSON.parse(response.body) as Candidate;
  }
});
