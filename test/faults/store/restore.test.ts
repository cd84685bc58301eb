import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { connectRedis } from "../../../src/infra/redis.ts";
import { answerOf, serversOf } from "../../admin/support.ts";
import { mailSettings, useMailServer } from "../../reminders/mail-server.ts";
import { type Answer, Client, expectProblem } from "../../support/client.ts";
import { type Processes, type Settings, spawnService } from "../../support/processes.ts";
import type { TestAccount } from "../../support/service.ts";
import { startMongo, startRedis, type TestServer } from "../../support/servers.ts";

const CONTENT = Buffer.from("the bytes of a passport");

/** The backup and restore of the operators' guide: copies of the servers' files, put under new servers. */
describe("A backup", () => {
  let folder: string;
  let redis: TestServer;
  let mongo: TestServer;
  const servers: TestServer[] = [];
  const running: Processes[] = [];
  const mail = useMailServer();
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "onboarding-restore-"));
  });
  beforeEach(() => mail.taken.splice(0));
  afterEach(stop);
  after(() => rmSync(folder, { recursive: true, force: true }));

  const dirOf = (copy: string, server: "redis" | "mongo") => join(folder, copy, server);

  /** Starts both servers on the files of a copy. */
  async function startServers(copies: { redis: string; mongo: string }): Promise<void> {
    for (const server of ["redis", "mongo"] as const) mkdirSync(dirOf(copies[server], server), { recursive: true });
    redis = await startRedis({ dir: dirOf(copies.redis, "redis"), args: ["--appendonly", "yes"] });
    servers.push(redis);
    await startMongoOn(copies.mongo);
  }

  async function startMongoOn(copied: string, port?: number): Promise<void> {
    mongo = await startMongo({ dir: dirOf(copied, "mongo"), ...(port !== undefined && { port }) });
    servers.push(mongo);
  }

  const urls = () => ({ REDIS_URL: redis.url, MONGODB_URL: `${mongo.url}/onboarding` });

  /** Starts a replica on these servers. */
  async function startReplica(settings: Settings = {}): Promise<Processes> {
    const replica = await spawnService({ ...urls(), ...settings });
    running.push(replica);
    return replica;
  }

  async function start(copies: { redis: string; mongo: string }, settings?: Settings): Promise<Processes> {
    await startServers(copies);
    return startReplica(settings);
  }

  /** Stops everything and leaves the files. Unlike the stop of the harness, it drops no database. */
  async function stop(): Promise<void> {
    const stopping = running.splice(0).map(async ({ child, operators }) => {
      const exited = once(child, "exit");
      child.kill("SIGTERM");
      await exited;
      await operators.close();
    });
    await Promise.all(stopping);
    await Promise.all(servers.splice(0).map((server) => server.stop()));
  }

  /** Copies the files of both servers. */
  function copy(from: string, to: string): void {
    cpSync(join(folder, from), join(folder, to), { recursive: true });
  }

  const admin = (...args: string[]) => answerOf(args, serversOf(urls()));

  /** Repeats a request until its response is as expected. */
  async function until(request: () => Promise<Answer>, fits: (answer: Answer) => boolean): Promise<Answer> {
    for (;;) {
      const answer = await request();
      if (fits(answer)) return answer;
    }
  }

  const isServed = ({ status }: Answer) => status === 200;

  async function expectClosed({ url, opsUrl }: Processes, key: string): Promise<void> {
    const refused = await new Client(url, key).post("/candidates");
    expectProblem(refused, 503, "service_restoring");
    expect(Number(refused.headers.get("retry-after"))).to.be.above(0);
    const ready = await fetch(`${opsUrl}/readyz`);
    expect([ready.status, ((await ready.json()) as { faults: string[] }).faults]).to.deep.equal([503, ["restoring"]]);
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
    await expectClosed(service, account.key);
    await admin("restore", "end");
    await until(() => client.get("/candidates"), isServed);
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

  describe("from before an erasure", () => {
    let lost: { account: TestAccount; erased: string; kept: string };
    const settings = () => mailSettings(mail);
    const recipients = () =>
      mail.taken.flatMap(({ to }) => (Array.isArray(to) ? to : [to])).flatMap((each) => each?.text ?? []);

    /** Creates a candidate and starts it: the first reminder is due at once. */
    async function started(client: Client, email: string): Promise<string> {
      const { body } = await client.post("/candidates", { email, documents: ["CV"] });
      expect((await client.post(`/candidates/${body.id}/start`)).status).to.equal(200);
      return body.id;
    }

    before(
      "two reminders wait, the backup is taken, they go out, and one of the two candidates is erased",
      async () => {
        const service = await start({ redis: "live", mongo: "live" }, settings());
        const account = await service.account();
        await admin("outreach", "pause", "--account", account.id);
        const erased = await started(account.client, "erased@example.com");
        const kept = await started(account.client, "kept@example.com");
        await stop();
        copy("live", "old");

        const { url } = await start({ redis: "live", mongo: "live" }, settings());
        await admin("outreach", "resume", "--account", account.id);
        await mail.received(2);
        const client = new Client(url, account.key);
        expect((await client.request("DELETE", `/candidates/${erased}`)).status).to.equal(204);
        await stop();
        lost = { account, erased, kept };
      },
    );

    /** Copies the present Redis and the backup of MongoDB, for one test, and starts the servers on them. */
    async function restoreTo(name: string, redisFiles = name): Promise<void> {
      copy("live", name);
      rmSync(dirOf(name, "mongo"), { recursive: true });
      cpSync(dirOf("old", "mongo"), dirOf(name, "mongo"), { recursive: true });
      await startServers({ redis: redisFiles, mongo: name });
      await admin("outreach", "resume", "--account", lost.account.id);
    }

    it("closes every replica by itself, until its operator has replayed what was lost; then what was due waits", async () => {
      const { account, erased, kept } = lost;
      await restoreTo("by itself");
      const replicas = await Promise.all([startReplica(settings()), startReplica(settings())]);
      for (const replica of replicas) await expectClosed(replica, account.key);
      expect(await admin("restore", "show")).to.include({ restoring: true });
      await admin("accounts", "announce");
      await admin("candidates", "erase", erased, "--yes");
      await admin("restore", "end");
      const clients = replicas.map(({ url }) => new Client(url, account.key));
      const [client] = clients as [Client];
      for (const each of clients) await until(() => each.get("/limits"), isServed);
      expect((await client.get(`/candidates/${erased}`)).status).to.equal(410);

      await started(client, "new@example.com");
      await mail.received(1);
      const isHeld = ({ body }: Answer) => body.outreach.reason === "restored";
      expect((await until(() => client.get(`/candidates/${kept}`), isHeld)).body.outreach.next_at).to.equal(null);
      expect(await admin("restore", "show")).to.include({ restoring: false, waiting: 1 });
      expect(recipients()).to.deep.equal(["new@example.com"]);

      await admin("restore", "end", "--overdue", "send");
      await mail.received(2);
      expect(recipients()).to.deep.equal(["new@example.com", "kept@example.com"]);
      const { data } = (await admin("audit", "list")) as { data: { action: string; subject: string }[] };
      expect(data.map(({ action }) => action)).to.include("restore end");
      expect(data.find(({ action }) => action === "candidates delete")?.subject).to.equal(erased);
    });

    it("is closed by hand if Redis was lost as well, in every process; what was due can count as sent", async () => {
      const { account, erased, kept } = lost;
      await restoreTo("by hand", "an empty one");
      expect(await admin("restore", "begin")).to.include({ restoring: true });
      await admin("restore", "begin");
      const service = await startReplica({ ...settings(), REPLICAS: 2 });
      await expectClosed(service, account.key);
      await admin("candidates", "erase", erased, "--yes");
      const ended = Date.now();
      await admin("restore", "end", "--overdue", "skip");
      await admin("restore", "end");
      const client = new Client(service.url, account.key);
      const isSkipped = ({ body: { outreach } }: Answer) => Date.parse(outreach?.next_at ?? "") > ended;
      const { body } = await until(() => client.get(`/candidates/${kept}`), isSkipped);
      expect(body.outreach.reason).to.equal(null);
      await until(
        () => client.get("/limits"),
        () => true,
      );
      await started(client, "new@example.com");
      await mail.received(1);
      expect(recipients()).to.deep.equal(["new@example.com"]);
      expect((await fetch(`${service.opsUrl}/readyz`)).status).to.equal(200);
    });

    it("closes replicas that run, also if it comes again after the end of a restore", async () => {
      const { account } = lost;
      copy("live", "running");
      await startServers({ redis: "running", mongo: "running" });
      const replicas = await Promise.all([startReplica(settings()), startReplica(settings())]);
      const clients = replicas.map(({ url }) => new Client(url, account.key));
      for (const again of ["once", "twice"]) {
        for (const client of clients) await until(() => client.get("/limits"), isServed);
        const { port } = mongo;
        await servers.pop()?.stop();
        copy("old", again);
        await startMongoOn(again, port);
        const isClosed = ({ body }: Answer) => body.code === "service_restoring";
        for (const client of clients) await until(() => client.get("/limits"), isClosed);
        for (const replica of replicas) await expectClosed(replica, account.key);
        await admin("outreach", "resume", "--account", account.id);
        await admin("restore", "end");
      }
      expect(recipients()).to.deep.equal([]);
    });
  });

  it("of Redis that is older, and a Redis that has lost its data, close nobody", async () => {
    const { key } = await (await start({ redis: "well", mongo: "well" })).account();
    await stop();
    copy("well", "well before");
    for (const [files, command] of [
      ["well", "flushall"],
      ["well before", "ping"],
    ] as const) {
      const service = await start({ redis: files, mongo: "well" });
      const client = await connectRedis({ url: redis.url, timeoutMs: 5_000 });
      await client.call(command);
      client.disconnect();
      expect((await new Client(service.url, key).get("/candidates")).status).to.equal(200);
      expect(await admin("restore", "show")).to.include({ restoring: false, ended_at: null });
      await stop();
    }
  });
});
