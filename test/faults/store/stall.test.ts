import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { LoadClient } from "../../support/load.ts";
import { openOperators, type Operators } from "../../support/operators.ts";
import { startMongo, type TestServer } from "../../support/servers.ts";
import { withDatabase } from "../../support/mongo-url.ts";
import { environmentOf, testConfig } from "../../support/service.ts";
import { everyCandidate, Mirror, missedBy } from "../replicas/feed.ts";
import { type Member, startMember } from "../../support/processes.ts";
import { type Network, startNetwork } from "./network.ts";

const STORE_TIMEOUT_MS = 1_000;
/** Longer than the feed's tolerance for slow writes and clock skew, and than the lease of an Idempotency-Key. */
const STALL_MS = 10_000;
const WRITERS = 8;

describe("a replica that ends while its writes wait for MongoDB", function () {
  this.timeout(120_000);
  const config = testConfig({ STORE_TIMEOUT_MS, LIMIT_SCALE: 1_000 });
  let mongo: TestServer;
  let network: Network;
  let operators: Operators;
  let survivor: Member;
  let reader: LoadClient;
  let writer: LoadClient;
  let mirror: Mirror;
  let key: string;
  before(async () => {
    mongo = await startMongo();
    network = await startNetwork(mongo.port);
    operators = await openOperators({ ...config, MONGODB_URL: urlAt(mongo.port) });
    survivor = await replicaAt(mongo.port);
    reader = new LoadClient(`http://127.0.0.1:${survivor.port}`, 4);
  });
  beforeEach(async () => {
    const { id } = await operators.accounts.createAccount({ name: "Test" });
    ({ key } = await operators.accounts.createKey({ accountId: id, name: "test" }));
    mirror = new Mirror(reader, key);
  });
  afterEach(() => writer.close());
  after(async () => {
    reader.close();
    await survivor.end("SIGTERM");
    await operators.close();
    network.close();
    await mongo.stop();
  });

  function urlAt(port: number): string {
    return withDatabase(`mongodb://127.0.0.1:${port}`, "stall");
  }

  function replicaAt(port: number): Promise<Member> {
    return startMember({ ...environmentOf(config), MONGODB_URL: urlAt(port) });
  }

  /** Starts the replica that is to end. It has cached the key, and has a connection to MongoDB for each writer. */
  async function startVictim(port: number): Promise<Member> {
    const victim = await replicaAt(port);
    writer = new LoadClient(`http://127.0.0.1:${victim.port}`, 2 * WRITERS);
    const responses = await Promise.all(Array.from({ length: 3 * WRITERS }, () => create("before")));
    expect(new Set(responses.map(({ status }) => status))).to.deep.equal(new Set([201]));
    return victim;
  }

  function create(
    name: string,
    { through = writer, headers = {} }: { through?: LoadClient; headers?: Record<string, string> } = {},
  ) {
    return through.send({ method: "POST", path: "/candidates", key, body: JSON.stringify({ name }), headers });
  }

  async function created(name: string): Promise<void> {
    const response = await create(name, { through: reader });
    expect(response.status, response.body).to.equal(201);
  }

  async function count(name: string): Promise<number> {
    return [...(await everyCandidate(reader, key)).values()].filter((each) => each.name === name).length;
  }

  /** Sends a create that the network holds back on its way to MongoDB. */
  async function createHeldBack(
    headers: Record<string, string> = {},
  ): Promise<{ response: Promise<number | undefined> }> {
    network.holds = (data) => data.includes("held up");
    const response = create("held up", { headers }).then(
      ({ status }) => status,
      () => undefined,
    );
    while (network.held === 0) await setTimeout(1);
    network.holds = () => false;
    return { response };
  }

  /** Reads the feed for that long, as a mirror that polls all the time. A page may fail meanwhile. */
  async function mirrorFor(ms: number): Promise<void> {
    for (const until = performance.now() + ms; performance.now() < until; await setTimeout(50)) await mirror.catchUp();
  }

  /** Waits until the store has a candidate of that name. The mirror must then have all of them, too. */
  async function expectMirrored(name: string): Promise<void> {
    while ((await count(name)) === 0) await setTimeout(50);
    expect(await missedBy(mirror, reader, key)).to.deep.equal([]);
  }

  it("misses nothing on the feed: the network delivers a create after the replica was killed", async () => {
    const victim = await startVictim(network.port);
    await createHeldBack();
    await victim.end("SIGKILL");
    await created("meanwhile");
    await mirrorFor(STALL_MS);
    network.release();
    await expectMirrored("held up");
  });

  it("misses nothing on the feed: MongoDB is paused, the replica is killed, and MongoDB goes on", async () => {
    const victim = await startVictim(mongo.port);
    await mirror.catchUp();
    // Which writes MongoDB makes first after the pause is up to chance. The cases of the network do not depend on it.
    mongo.pause();
    const responses = Array.from({ length: WRITERS }, () => create("under way").catch(() => undefined));
    await mirrorFor(STORE_TIMEOUT_MS / 2); // the replica has sent them, and still waits
    await victim.end("SIGKILL");
    await Promise.all(responses);
    await mirrorFor(STALL_MS);
    mongo.resume();
    await mirrorFor(1_000);
    await expectMirrored("under way");
  });

  it("misses nothing on the feed: another replica serves the retry of a create that landed late", async () => {
    const victim = await startVictim(network.port);
    const headers = { "Idempotency-Key": "retried" };
    await createHeldBack(headers);
    await victim.end("SIGKILL");
    await created("meanwhile");
    await mirrorFor(STALL_MS);
    network.release();
    while ((await count("held up")) === 0) await setTimeout(20);
    const retry = await create("held up", { through: reader, headers });
    expect(retry.status, retry.body).to.equal(201);
    await expectMirrored("held up");
    expect(await count("held up")).to.equal(1);
  });

  it("misses nothing on the feed: a replica is stopped before it knows what became of a create", async () => {
    const victim = await startVictim(network.port);
    const { response } = await createHeldBack();
    expect(await response).to.equal(503);
    expect(await victim.end("SIGTERM")).to.equal(0);
    await created("meanwhile");
    await mirrorFor(STALL_MS);
    network.release();
    await expectMirrored("held up");
  });

  it("holds no reader back once it has settled its writes, if it is stopped", async () => {
    const marks = () => operators.mongo.db.collection("feed_marks").countDocuments();
    const before = await marks();
    const victim = await startVictim(network.port);
    expect(await marks()).to.equal(before + 1);
    const { response } = await createHeldBack();
    expect(await response).to.equal(503);
    network.release();
    expect(await victim.end("SIGTERM")).to.equal(0);
    expect(await marks()).to.equal(before);
    await mirror.catchUp();
    expect([...mirror.candidates.values()].find(({ name }) => name === "held up")?.version).to.equal(2);
  });
});
