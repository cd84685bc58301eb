import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { LoadClient } from "../../support/load.ts";
import { type Primary, primaryOf, withDatabase } from "../../support/mongo-url.ts";
import { openOperators, type Operators } from "../../support/operators.ts";
import { type Member, type Spawned, spawnMember } from "../../support/processes.ts";
import { environmentOf, testConfig } from "../../support/service.ts";
import { type Network, startNetwork } from "../store/network.ts";
import { Tally } from "../tally.ts";

const STORE_TIMEOUT_MS = 1_000;
const LATE_MS = 1_000;
const RECOVERY_MS = 5_000;
const PRELOAD = { NODE_OPTIONS: "--import ./test/faults/replicas/names.mjs" };

describe("a replica without DNS", function () {
  this.timeout(60_000);
  let dir: string;
  let names: string;
  let redis: Network;
  let mongo: Network;
  let primary: Primary;
  let operators: Operators;
  before(async () => {
    dir = mkdtempSync(join(tmpdir(), "onboarding-dns-"));
    names = join(dir, "names");
    const { REDIS_URL = "", MONGODB_URL = "" } = process.env;
    redis = await startNetwork(Number(new URL(REDIS_URL).port));
    primary = await primaryOf(MONGODB_URL);
    mongo = await startNetwork(primary.port, primary.host);
    operators = await openOperators(testConfig({ MONGODB_URL: withDatabase(MONGODB_URL, `dns-${process.pid}`) }));
  });
  after(async () => {
    await operators.mongo.db.dropDatabase();
    await operators.close();
    redis.close();
    mongo.close();
    rmSync(dir, { recursive: true });
  });

  /** Starts a replica whose settings name its servers by hostname. */
  function start(): Promise<Spawned> {
    const config = testConfig({
      REDIS_URL: `redis://redis.test:${redis.port}`,
      MONGODB_URL: primary.through(`mongo.test:${mongo.port}`, `dns-${process.pid}`),
      STORE_TIMEOUT_MS,
      LIMIT_WINDOW_SECONDS: 3_600, // any other value logs a warning at the start
    });
    return spawnMember({ ...environmentOf(config), ...PRELOAD, NAMES_FILE: names });
  }

  it("waits, reports in one line which name it could not resolve, and serves once it resolves", async () => {
    const spawned = await start();
    const line = await spawned.logged(({ level }) => level >= 40);
    expect(line).to.include({ level: 40, server: "mongodb" });
    expect(line.error?.message).to.contain("mongo.test");
    writeFileSync(names, "");
    const began = performance.now();
    const member = await spawned.served;
    const recoveryMs = performance.now() - began;
    rmSync(names);
    expect(recoveryMs).to.be.below(RECOVERY_MS);
    expect(spawned.log.filter(({ level }) => level >= 40)).to.deep.equal([line]);
    expect(await member.end("SIGTERM")).to.equal(0);
  });

  it("returns 503 in time if it already runs, and recovers when names resolve again", async () => {
    writeFileSync(names, "");
    const member = await (await start()).served;
    const { id } = await operators.accounts.createAccount({ name: "Test" });
    const { key } = await operators.accounts.createKey({ accountId: id, name: "test" });
    const load = new LoadClient(`http://127.0.0.1:${member.port}`, 4);
    const tally = new Tally([member.child.pid]);
    const create = () => tally.send(load, { method: "POST", path: "/candidates", key, body: "{}" });
    expect((await create()).response?.status).to.equal(201);

    rmSync(names);
    redis.cut();
    mongo.cut();
    await setTimeout(100);
    const before = tally.unavailable;
    for (let n = 0; n < 10; n++) await create();
    const unavailable = tally.unavailable - before;
    const { status, faults } = await readiness(member);

    writeFileSync(names, "");
    const began = performance.now();
    while ((await create()).response?.status !== 201 && performance.now() - began < 2 * RECOVERY_MS)
      await setTimeout(50);
    const recoveryMs = Math.round(performance.now() - began);
    const after = await readiness(member);
    load.close();
    const exitCode = await member.end("SIGTERM");
    expect(unavailable).to.equal(10);
    expect(tally.slowestUnavailableMs).to.be.below(STORE_TIMEOUT_MS + LATE_MS);
    expect({ status, faults }).to.deep.equal({
      status: 503,
      faults: ["redis does not answer", "mongodb does not answer"],
    });
    expect(recoveryMs).to.be.below(RECOVERY_MS);
    expect(after).to.deep.equal({ status: 200, faults: [] });
    expect(tally.failures).to.deep.equal([]);
    expect(exitCode).to.equal(0);
  });

  async function readiness({ opsPort }: Member): Promise<{ status: number; faults: string[] }> {
    const response = await fetch(`http://127.0.0.1:${opsPort}/readyz?deep=1`);
    const { faults } = (await response.json()) as { faults: string[] };
    return { status: response.status, faults };
  }
});
