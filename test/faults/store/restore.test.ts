import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { Client } from "../../support/client.ts";
import { type Processes, spawnService } from "../../support/processes.ts";
import { startMongo, startRedis, type TestServer } from "../../support/servers.ts";

const CONTENT = Buffer.from("the bytes of a passport");

/** The backup and restore of the operators' guide: copies of the servers' files, put under new servers. */
describe("A backup", () => {
  let folder: string;
  const servers: TestServer[] = [];
  let running: Processes | undefined;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "onboarding-restore-"));
  });
  afterEach(stop);
  after(() => rmSync(folder, { recursive: true, force: true }));

  const dirOf = (copy: string, server: "redis" | "mongo") => join(folder, copy, server);

  /** Starts both servers on the files of a copy, and the service on them. */
  async function start(copies: { redis: string; mongo: string }): Promise<Processes> {
    for (const server of ["redis", "mongo"] as const) mkdirSync(dirOf(copies[server], server), { recursive: true });
    const redis = await startRedis({ dir: dirOf(copies.redis, "redis"), args: ["--appendonly", "yes"] });
    servers.push(redis);
    const mongo = await startMongo({ dir: dirOf(copies.mongo, "mongo") });
    servers.push(mongo);
    running = await spawnService({ REDIS_URL: redis.url, MONGODB_URL: `${mongo.url}/onboarding` });
    return running;
  }

  /** Stops everything and leaves the files. Unlike the stop of the harness, it drops no database. */
  async function stop(): Promise<void> {
    if (running !== undefined) {
      const { child, operators } = running;
      running = undefined;
      const exited = once(child, "exit");
      child.kill("SIGTERM");
      await exited;
      await operators.close();
    }
    await Promise.all(servers.splice(0).map((server) => server.stop()));
  }

  /** Copies the files of both servers. */
  function copy(from: string, to: string): void {
    cpSync(join(folder, from), join(folder, to), { recursive: true });
  }

  it("of both servers brings back data, bytes, keys, replays and what the window has used", async () => {
    const live = await start({ redis: "live", mongo: "live" });
    const account = await live.account();
    const created = await account.client.post("/candidates", { documents: ["Passport"] }, { "Idempotency-Key": "one" });
    const content = `/candidates/${created.body.id}/documents/${created.body.documents[0]?.id}/content`;
    const uploaded = await account.client.request("PUT", content, {
      body: CONTENT,
      headers: { "Content-Type": "text/plain" },
    });
    expect(uploaded.status).to.equal(200);
    const feed = await account.client.get("/candidates");
    const used = await account.used();
    await stop();
    copy("live", "backup");

    const service = await start({ redis: "backup", mongo: "backup" });
    const client = new Client(service.url, account.key);
    const { surfaces } = await service.operators.usage({ accountId: account.id, keyId: account.keyId });
    for (const { surface, key } of surfaces) expect(key.used, surface).to.equal(used[surface] ?? 0);
    expect((await client.get(content)).body.text).to.equal(CONTENT.toString());
    expect((await client.get("/candidates")).body.data).to.deep.equal(feed.body.data);
    const replay = await client.post("/candidates", { documents: ["Passport"] }, { "Idempotency-Key": "one" });
    expect(replay.headers.get("idempotent-replayed")).to.equal("true");
    expect(replay.body.id).to.equal(created.body.id);
  });

  it("of MongoDB that is older than the clients' cursors loses only what came after it", async () => {
    const account = await (await start({ redis: "aged", mongo: "aged" })).account();
    const kept = await account.client.post("/candidates", { name: "Kept" });
    await stop();
    copy("aged", "older");

    const { url } = await start({ redis: "aged", mongo: "aged" });
    const lost = await new Client(url, account.key).post("/candidates", { name: "Lost" });
    const { cursor } = (await new Client(url, account.key).get("/candidates")).body;
    await stop();

    // MongoDB goes back to the backup, Redis keeps its counts.
    const service = await start({ redis: "aged", mongo: "older" });
    const client = new Client(service.url, account.key);
    expect((await client.get(`/candidates/${lost.body.id}`)).status).to.equal(404);
    const later = await client.post("/candidates", { name: "Later" });
    const since = await client.get(`/candidates?cursor=${cursor}`);
    expect(since.status).to.equal(200);
    expect(since.body.data.map(({ id }) => id)).to.include(later.body.id);
    const all = await client.get("/candidates");
    expect(all.body.data.map(({ id }) => id)).to.deep.equal([kept.body.id, later.body.id]);
    const { surfaces } = await service.operators.usage({ accountId: account.id, keyId: account.keyId });
    expect(surfaces.find(({ surface }) => surface === "create")?.key.used).to.equal(3);
  });
});
