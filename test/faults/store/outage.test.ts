import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { LoadClient } from "../../support/load.ts";
import { startMongo, type TestServer } from "../../support/servers.ts";
import { type Fleet, startFleet } from "../replicas/fleet.ts";
import { Tally } from "../tally.ts";
import { type Network, startNetwork } from "./network.ts";
import { type MongoFault, survive } from "./survive.ts";

const STORE_TIMEOUT_MS = 1_500;
/** Longer than the timeout, so that requests are answered 503. */
const FAULT_MS = 2_500;
const WRITERS = 20;
/** Tolerance for a busy test machine. */
const LATE_MS = 1_000;

describe("the service during an outage of MongoDB", function () {
  this.timeout(90_000);
  let mongo: TestServer;
  let network: Network;
  let fleet: Fleet;
  before(async () => {
    mongo = await startMongo();
    network = await startNetwork(mongo.port);
    fleet = await startFleet(2, {
      MONGODB_URL: `mongodb://127.0.0.1:${network.port}/faults`,
      STORE_TIMEOUT_MS,
      LIMIT_SCALE: 1_000,
      LIMITER_TIMEOUT_MS: 5_000,
    });
  });
  after(async () => {
    await fleet.stop();
    network.close();
    await mongo.stop();
  });

  const MONGO_FAULTS: (MongoFault & { readonly fault: string })[] = [
    { fault: "killed and restarted", lastsMs: FAULT_MS, begin: () => mongo.kill(), end: () => mongo.restart() },
    { fault: "paused (SIGSTOP)", lastsMs: FAULT_MS, begin: () => mongo.pause(), end: () => mongo.resume() },
    { fault: "restarted cleanly", lastsMs: 0, begin: () => mongo.restart(), end: () => undefined },
    {
      fault: "delayed by twice the timeout",
      lastsMs: FAULT_MS,
      begin: () => void (network.delayMs = 2 * STORE_TIMEOUT_MS),
      end: () => void (network.delayMs = 0),
    },
    { fault: "disconnected repeatedly", lastsMs: 0, begin: cutOften, end: () => undefined },
  ];
  for (const mongoFault of MONGO_FAULTS) {
    it(`returns 503 in time, loses nothing and recovers by itself: MongoDB is ${mongoFault.fault}`, () =>
      survive(fleet, STORE_TIMEOUT_MS, mongoFault));
  }

  it("returns 503 in time to every queued writer of one candidate: MongoDB is paused", async () => {
    const { id } = await fleet.operators.accounts.createAccount({ name: "Test" });
    const { key } = await fleet.operators.accounts.createKey({ accountId: id, name: "test" });
    const load = new LoadClient(fleet.url, WRITERS);
    const tally = new Tally(fleet.members.map(({ child }) => child.pid));
    const patch = (path: string, n: number) =>
      tally.send(load, { method: "PATCH", path, key, body: JSON.stringify({ name: `${n}` }) });
    const made = await load.send({ method: "POST", path: "/candidates", key, body: "{}" });
    const path = `/candidates/${(JSON.parse(made.body) as { id: string }).id}`;
    await Promise.all(Array.from({ length: WRITERS }, (_, n) => patch(path, n))); // both replicas cache the key
    const before = tally.admitted;
    mongo.pause();
    try {
      await Promise.all(Array.from({ length: WRITERS }, (_, n) => patch(path, n)));
    } finally {
      mongo.resume();
    }
    load.close();
    expect(before).to.equal(WRITERS);
    expect(tally.unavailable).to.equal(WRITERS);
    expect(tally.slowestUnavailableMs).to.be.below(STORE_TIMEOUT_MS + LATE_MS);
  });

  async function cutOften(): Promise<void> {
    for (const until = performance.now() + FAULT_MS; performance.now() < until; await setTimeout(200)) network.cut();
  }
});
