import { expect } from "chai";
import type { Limits } from "../../src/limits/schema.ts";
import { limitsOf, SURFACES } from "../../src/limiter/surfaces.ts";
import { type Client, expectProblem } from "../support/client.ts";
import { scrape } from "../support/metrics.ts";
import { useService } from "../support/use-service.ts";

describe("GET /limits", () => {
  const service = useService();

  const read = async (client: Client): Promise<Limits> => {
    const response = await client.get("/limits");
    expect(response.status).to.equal(200);
    return response.body as unknown as Limits;
  };
  const surfaceOf = (limits: Limits, name: string) => limits.surfaces.find(({ surface }) => surface === name);

  it("shows the account's and the key's windows on all seven surfaces, and when they reset", async () => {
    const { id, keyId, client } = await service.account();
    const { surfaces, ...rest } = await read(client);
    expect(rest).to.deep.equal({ object: "limits", account_id: id, key_id: keyId, window_seconds: 86_400, grants: [] });
    expect(surfaces.map(({ surface }) => surface)).to.deep.equal(SURFACES);
    for (const { surface, account, key, reset, reset_at } of surfaces) {
      const limits = limitsOf(surface, 1);
      expect([account, key]).to.deep.equal(
        [limits.account, limits.key].map((limit) => ({ limit, used: 0, remaining: limit })),
      );
      expect(reset_at).to.match(/T00:00:00\.000Z$/);
      expect(Date.parse(reset_at) - Date.now()).to.be.within((reset - 2) * 1000, (reset + 1) * 1000);
    }
  });

  it("counts each key's use toward its account, and costs nothing itself", async () => {
    const account = await service.account();
    const other = await account.another();
    for (let n = 0; n < 3; n++) await account.client.post("/candidates");
    await other.client.post("/candidates");
    await other.client.get("/candidates");
    for (let n = 0; n < 5; n++) await read(account.client);
    const [own, others] = [await read(account.client), await read(other.client)];
    expect(surfaceOf(own, "create")).to.deep.include({
      account: { limit: 200, used: 4, remaining: 196 },
      key: { limit: 100, used: 3, remaining: 97 },
    });
    expect(surfaceOf(others, "create")).to.deep.include({
      account: { limit: 200, used: 4, remaining: 196 },
      key: { limit: 100, used: 1, remaining: 99 },
    });
    expect(surfaceOf(own, "list")).to.deep.include({
      account: { limit: 240, used: 1, remaining: 239 },
      key: { limit: 120, used: 0, remaining: 120 },
    });
    expect(surfaceOf(own, "reads")?.account.used).to.equal(0);
  });

  it("carries no rate-limit headers, because no one surface is meant", async () => {
    const { client } = await service.account();
    const { headers } = await client.get("/limits");
    expect([headers.get("ratelimit"), headers.get("ratelimit-policy")]).to.deep.equal([null, null]);
    const charged = await client.get("/candidates");
    expect(charged.headers.get("ratelimit")).to.match(/^"account-list";r=239;/);
  });

  it("shows every request that was answered before, however many ask at once", async () => {
    const account = await service.account();
    const { client } = account;
    const other = (await account.another()).client;
    let over = false;
    const crowd = Array.from({ length: 4 }, async () => {
      while (!over) await read(client);
    });
    for (let n = 1; n <= 10; n++) {
      expectProblem(await client.post("/candidates", { nonsense: n }), 422, "validation_failed"); // charged, and quick
      expect(surfaceOf(await read(client), "create")?.key.used).to.equal(n);
      expect(surfaceOf(await read(other), "create")?.account.used).to.equal(n);
    }
    over = true;
    await Promise.all(crowd);
  });

  it("shows each key its own use, if the keys of an account ask at once", async () => {
    const account = await service.account();
    const other = (await account.another()).client;
    await account.client.post("/candidates");
    const used = await Promise.all(
      [account.client, other, account.client, other].map(
        async (client) => surfaceOf(await read(client), "create")?.key.used,
      ),
    );
    expect(used).to.deep.equal([1, 0, 1, 0]);
  });

  it("asks Redis once for all who ask about a key at once, and at most ten times a second", async () => {
    const { client } = await service.account();
    await read(client);
    const scripts = async () =>
      (await scrape(service)).value("db_client_operation_duration_seconds_count", { db_operation_name: "evalsha" }) ??
      0;
    const before = { scripts: await scripts(), at: performance.now() };
    for (let round = 0; round < 3; round++) await Promise.all(Array.from({ length: 40 }, () => read(client)));
    const seconds = (performance.now() - before.at) / 1000;
    const asked = (await scripts()) - before.scripts;
    expect(asked).to.be.within(3, Math.floor(seconds / 0.099) + 1); // a timer may fire 1 ms early
  });

  it("shows the key's live grants, and no other key's", async () => {
    const account = await service.account();
    const other = await account.another();
    const terms = { surface: "create", amount: 50, expiresInHours: 2, approvedBy: "Ann", reason: "backfill" };
    const { id, expires_at } = await service.operators.grants.create({ ...terms, keyId: account.keyId });
    for (let n = 0; n < 103; n++) expect((await account.client.post("/candidates")).status).to.equal(201);
    expect((await read(account.client)).grants).to.deep.equal([
      { object: "grant", id, surface: "create", amount: 50, remaining: 47, expires_at },
    ]);
    expect((await read(other.client)).grants).to.deep.equal([]);
    await service.operators.grants.revoke(id);
    expect((await read(account.client)).grants).to.deep.equal([]);
  });

  it("requires a key, and refuses one that was revoked or suspended after its last request", async () => {
    const account = await service.account();
    const other = await account.another();
    expectProblem(await account.client.get("/limits", { Authorization: "" }), 401, "api_key_missing");
    await read(account.client);
    await read(other.client);
    await service.operators.accounts.revokeKey(account.keyId);
    expectProblem(await account.client.get("/limits"), 401, "api_key_revoked");
    await service.operators.accounts.setStatus(account.id, "suspended");
    expectProblem(await other.client.get("/limits"), 403, "account_suspended");
    await service.operators.accounts.setStatus(account.id, "active");
    await read(other.client);
  });

  it("shows one counter for both secrets of a rotated key, and refuses the old secret after its grace", async () => {
    const account = await service.account();
    await account.client.post("/candidates");
    const { key } = await service.operators.accounts.rotateKey({ keyId: account.keyId, graceSeconds: 3600 });
    const renewed = { Authorization: `Bearer ${key}` };
    await account.client.post("/candidates", {}, renewed);
    await account.client.post("/candidates");
    for (const headers of [{}, renewed]) {
      const limits = (await account.client.get("/limits", headers)).body as unknown as Limits;
      expect(surfaceOf(limits, "create")?.key.used).to.equal(3);
    }
    const last = await service.operators.accounts.rotateKey({ keyId: account.keyId, graceSeconds: 0 });
    expectProblem(await account.client.get("/limits"), 401, "api_key_invalid");
    expectProblem(await account.client.post("/candidates", {}, renewed), 401, "api_key_invalid");
    const newest = { Authorization: `Bearer ${last.key}` };
    expect((await account.client.post("/candidates", {}, newest)).headers.get("ratelimit")).to.match(
      /"key-create";r=96;/,
    );
  });
});
