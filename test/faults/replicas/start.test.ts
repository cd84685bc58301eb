import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { freePort } from "../../../src/dev/server-process.ts";
import { Client } from "../../support/client.ts";
import { openOperators } from "../../support/operators.ts";
import { type Settings, type Spawned, spawnMember } from "../../support/processes.ts";
import { startMongo, startRedis, type TestServer } from "../../support/servers.ts";
import { environmentOf, testConfig } from "../../support/service.ts";
import { useStarted } from "../../support/use-started.ts";
import { type Network, startNetwork } from "../store/network.ts";

const WAITING = "a server does not respond, waiting for it";
/** Maximum time until the service recovers, as the docs promise. It begins when the server responds again. */
const SERVES_WITHIN_MS = 2_000;
const STORE_TIMEOUT_MS = 1_000;

describe("a process that starts", function () {
  this.timeout(60_000);
  const redis = useStarted(
    "Redis",
    () => startRedis(),
    (server) => server.stop(),
  );
  const mongo = useStarted(
    "MongoDB",
    () => startMongo(),
    (server) => server.stop(),
  );
  const network = useStarted(
    "The network",
    () => startNetwork(mongo.port),
    (started: Network) => started.close(),
  );
  let opsUrl: string;
  let spawned: Spawned;
  afterEach(async () => {
    await spawned?.end("SIGKILL");
    network.holds = () => false;
    network.release();
  });

  /** Starts a process. Its MongoDB is behind the network, and both URLs have a user and a password. */
  async function start(settings: Settings = {}): Promise<Spawned> {
    const OPS_PORT = await freePort();
    opsUrl = `http://127.0.0.1:${OPS_PORT}`;
    const config = testConfig({
      REDIS_URL: redis.url,
      MONGODB_URL: `mongodb://127.0.0.1:${network.port}/start-${process.pid}`,
      STORE_TIMEOUT_MS,
      LIMIT_WINDOW_SECONDS: 3_600, // any other value logs a warning at the start
      OPS_PORT,
      ...settings,
    });
    return (spawned = await spawnMember(environmentOf(config)));
  }

  const waits = ({ log }: Spawned) => log.filter(({ msg }) => msg === WAITING);

  /** Waits until each of the processes has logged that it waits for the server. */
  async function untilItWaits(count: number, name: string): Promise<void> {
    const fits = () => waits(spawned).filter(({ server }) => server === name).length === count;
    while (!fits()) await spawned.logged(({ msg }) => msg === WAITING);
  }

  async function readiness(query = ""): Promise<[number, string[]]> {
    const response = await fetch(`${opsUrl}/readyz${query}`);
    return [response.status, ((await response.json()) as { faults: string[] }).faults];
  }

  /** Waits until it serves, and creates a candidate. */
  async function expectItServes(since: number): Promise<void> {
    const { port } = await spawned.served;
    const ms = performance.now() - since;
    expect(await readiness("?deep=1")).to.deep.equal([200, []]);
    const operators = await openOperators(
      testConfig({ REDIS_URL: redis.url, MONGODB_URL: `${mongo.url}/start-${process.pid}` }),
    );
    const { id } = await operators.accounts.createAccount({ name: "Test" });
    const { key } = await operators.accounts.createKey({ accountId: id, name: "test" });
    await operators.close();
    expect((await new Client(`http://127.0.0.1:${port}`, key).post("/candidates")).status).to.equal(201);
    expect(ms).to.be.below(SERVES_WITHIN_MS);
    expect(await spawned.end("SIGTERM")).to.equal(0);
    expect(await spawned.complaints).to.equal("");
  }

  for (const REPLICAS of [1, 2])
    for (const [name, server, address] of [
      ["redis", redis, () => `redis://127.0.0.1:${redis.port}`],
      ["mongodb", mongo, () => `mongodb://127.0.0.1:${network.port}`],
    ] as [string, TestServer, () => string][])
      it(`without ${name} waits for it, lives, and is not ready, with REPLICAS=${REPLICAS}`, async () => {
        await server.kill();
        await start({ REPLICAS });
        await untilItWaits(REPLICAS, name);
        expect((await fetch(`${opsUrl}/livez`)).status).to.equal(200);
        expect(await readiness()).to.deep.equal([503, ["starting"]]);
        expect(await readiness("?deep=1")).to.deep.equal([503, ["starting", `${name} does not answer`]]);
        const metrics = await (await fetch(`${opsUrl}/metrics`)).text();
        expect(metrics).to.contain(`dependency_up{db_system_name="${name}"} 0`);
        await server.restart();
        const back = performance.now();
        await spawned.served;
        expect(
          waits(spawned).map(({ server: named, error }) => [named, error?.message.includes(address())]),
        ).to.deep.equal(Array.from({ length: REPLICAS }, () => [name, true]));
        await expectItServes(back);
      });

  it("without both waits for each, when they come back one after the other", async () => {
    await Promise.all([redis.kill(), mongo.kill()]);
    await start();
    await untilItWaits(1, "mongodb");
    await mongo.restart();
    await untilItWaits(1, "redis");
    expect(await readiness("?deep=1")).to.deep.equal([503, ["starting", "redis does not answer"]]);
    await redis.restart();
    await expectItServes(performance.now());
  });

  it("before MongoDB stands still waits until it goes on", async () => {
    mongo.pause();
    await start();
    await untilItWaits(1, "mongodb");
    mongo.resume();
    await expectItServes(performance.now());
  });

  for (const [stage, command] of [
    ["while it creates indexes", "createIndexes"],
    ["at its first checkpoint of the feed", "feed_marks"],
  ] as const)
    it(`and loses MongoDB ${stage} goes on from there`, async () => {
      network.holds = (data) => data.includes(command);
      await start();
      while (network.held === 0) await setTimeout(5);
      await mongo.kill();
      network.holds = () => false;
      network.cut();
      await untilItWaits(1, "mongodb");
      await mongo.restart();
      await expectItServes(performance.now());
    });

  for (const REPLICAS of [1, 2])
    it(`and is told to stop while it waits ends at once, with REPLICAS=${REPLICAS}`, async () => {
      await Promise.all([redis.kill(), mongo.kill()]);
      await start({ REPLICAS });
      await untilItWaits(REPLICAS, "mongodb");
      const began = performance.now();
      const code = await spawned.end("SIGTERM");
      const tookMs = performance.now() - began;
      await Promise.all([redis.restart(), mongo.restart()]);
      expect(code).to.equal(0);
      expect(tookMs).to.be.below(SERVES_WITHIN_MS);
      expect(spawned.log.filter(({ msg }) => msg !== WAITING)).to.deep.equal([]);
      expect(await spawned.complaints).to.equal("");
    });
});
