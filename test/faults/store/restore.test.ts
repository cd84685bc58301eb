import { expect } from "chai";
import { connectRedis } from "../../../src/infra/redis.ts";
import { Client } from "../../support/client.ts";
import { expectClosed, isServed, until, useCopies } from "./copies.ts";

const CONTENT = Buffer.from("the bytes of a passport");

describe("A backup", function () {
  this.timeout(180_000); // each test starts several servers and processes, and copies files
  const { copy, start, stop, admin, redisUrl } = useCopies();

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

  it("of Redis that is older, and a Redis that has lost its data, close nobody", async () => {
    const { key } = await (await start({ redis: "well", mongo: "well" })).account();
    await stop();
    copy("well", "well before");
    for (const [files, command] of [
      ["well", "flushall"],
      ["well before", "ping"],
    ] as const) {
      const service = await start({ redis: files, mongo: "well" });
      const client = await connectRedis({ url: redisUrl(), timeoutMs: 5_000 });
      await client.call(command);
      // Twice: the first round may have begun before the data was lost.
      const marks = async () => (await client.hvals("{acct_}marks")).join();
      for (const before of [await marks(), await marks()]) while ((await marks()) === before) await client.ping();
      client.disconnect();
      expect((await new Client(service.url, key).get("/candidates")).status).to.equal(200);
      expect(await admin("restore", "show")).to.include({ restoring: false, ended_at: null });
      await stop();
    }
  });
});
