import { expect } from "chai";
import { newKey } from "../idempotency/support.ts";
import { expectProblem } from "../support/client.ts";
import { useAccount, useService } from "../support/use-service.ts";
import { createWebhook, deliveryOf, webhookIn, webhooksIn } from "./support.ts";
import { useReceiver } from "./receiver.ts";

const URL_OF_NOBODY = "https://ats.example.com/hooks";
const SECRET = /^whsec_[A-Za-z0-9+/]{43}=$/;

describe("/webhooks", () => {
  const service = useService();
  const account = useAccount(service);
  const receiver = useReceiver();
  const { client } = account;
  const create = (input: object = {}) => createWebhook(client, { url: URL_OF_NOBODY, ...input });

  /** Every operation on the webhook of a path. */
  const operations = (path: string) => ({
    read: () => client.get(path),
    change: () => client.patch(path, { description: "x" }),
    remove: () => client.request("DELETE", path),
    test: () => client.post(`${path}/test`),
    rotate: () => client.post(`${path}/rotate`),
  });

  it("are created with defaults, an address, an entity tag, and a secret of 32 bytes", async () => {
    const { answer, path, webhook } = await create();
    const { secret, ...shown } = webhook;
    expect(answer.headers.get("location")).to.equal(path);
    expect(answer.headers.get("etag")).to.match(/^"[\w-]+\.[\w-]+(-gzip)?"$/);
    expect(webhook.id).to.match(/^wh_/);
    expect(secret).to.match(SECRET);
    expect(shown).to.deep.equal({
      object: "webhook",
      id: webhook.id,
      url: URL_OF_NOBODY,
      description: null,
      states: null,
      enabled: true,
      disabled_reason: null,
      disabled_at: null,
      last_delivery: null,
      next_attempt_at: null,
      version: 1,
      created_at: webhook.created_at,
      updated_at: webhook.created_at,
    });
    expect(Date.parse(webhook.created_at)).to.be.closeTo(Date.now(), 60_000);
    expect((await client.get(path)).body).to.deep.equal(shown);
  });

  it("are listed, the oldest first, each as a read shows it", async () => {
    const urls = ["https://b.example.com/", "https://a.example.com/", "https://c.example.com/"];
    const reads = [];
    for (const url of urls) reads.push((await client.get((await create({ url })).path)).body);
    const listed = await client.get("/webhooks");
    expect(listed.body).to.deep.equal({ object: "list", data: reads });
  });

  it("keep a description and states, which PATCH changes and null clears", async () => {
    const { path, webhook } = await create({ description: "ATS 🦊\nof Ann", states: ["completed", "withdrawn"] });
    expect(webhook).to.deep.include({ description: "ATS 🦊\nof Ann", states: ["completed", "withdrawn"] });
    const changed = webhookIn(await client.patch(path, { states: ["created"], url: "https://b.example.com/x?y=1#z" }));
    const expected = { description: "ATS 🦊\nof Ann", states: ["created"], url: "https://b.example.com/x?y=1#z" };
    expect(changed).to.deep.include({ ...expected, version: 2, created_at: webhook.created_at });
    const cleared = webhookIn(await client.patch(path, { states: null, description: null }));
    expect(cleared).to.deep.include({ states: null, description: null, url: expected.url, version: 3 });
    expect((await client.get(path)).body).to.deep.equal(cleared);
  });

  it("are turned off and on: each once, with a reason and a time", async () => {
    const { path } = await create();
    expect(webhookIn(await client.patch(path, { enabled: true }))).to.include({ version: 1 });
    const off = webhookIn(await client.patch(path, { enabled: false }));
    expect(off).to.include({ enabled: false, disabled_reason: "requested", version: 2, disabled_at: off.updated_at });
    expect((await client.patch(path, { enabled: false })).body).to.deep.equal(off);
    const on = webhookIn(await client.patch(path, { enabled: true }));
    const expected = { enabled: true, disabled_reason: null, disabled_at: null, version: 3 };
    expect(on).to.deep.equal({ ...on, ...expected });
    const same = { enabled: true, description: null, states: null, url: URL_OF_NOBODY };
    expect(webhookIn(await client.patch(path, same))).to.include({ ...expected, updated_at: on.updated_at });
  });

  it("are not there after DELETE, nor for another account, whatever is done with them", async () => {
    const { path } = await create();
    const other = await service.account();
    const theirs = await createWebhook(other.client, { url: URL_OF_NOBODY });
    expect((await client.request("DELETE", path)).status).to.equal(204);
    for (const missing of [path, theirs.path, "/webhooks/wh_1", "/webhooks/%00"])
      for (const operation of Object.values(operations(missing)).slice(0, missing === path ? 5 : 4))
        expectProblem(await operation(), 404, "not_found");
    expect(webhooksIn(await client.get("/webhooks"))).to.deep.equal([]);
    const { secret: _, ...shown } = theirs.webhook;
    expect((await other.client.get(theirs.path)).body).to.deep.equal(shown);
  });

  it("are at most five an account, also if twelve are created at the same moment", async () => {
    const all = await Promise.all(Array.from({ length: 12 }, () => client.post("/webhooks", { url: URL_OF_NOBODY })));
    const created = all.filter(({ status }) => status === 201).map(({ body }) => body.id);
    for (const refused of all.filter(({ status }) => status !== 201)) expectProblem(refused, 409, "too_many_webhooks");
    const listed = webhooksIn(await client.get("/webhooks")).map(({ id }) => id);
    expect(created).to.have.length(5).and.have.members(listed);
    await client.request("DELETE", `/webhooks/${listed[1]}`);
    const { webhook } = await create();
    expectProblem(await client.post("/webhooks", { url: URL_OF_NOBODY }), 409, "too_many_webhooks");
    expect(webhooksIn(await client.get("/webhooks")).map(({ id }) => id)).to.have.members([
      ...listed.filter((_, at) => at !== 1),
      webhook.id,
    ]);
  });

  it("are changed only if the entity tag matches, which a delivery leaves good", async () => {
    const { path, answer, webhook } = await create({ url: `${receiver.origin}/tags` });
    const created = answer.headers.get("etag") ?? "";
    const read = (await client.get(path)).headers.get("etag") ?? "";
    expect((await client.post(`${path}/test`)).status).to.equal(202);
    await receiver.nudges("/tags", 1);
    expect(await deliveryOf(client, path)).to.include({ status: 204, error: null });
    expect((await client.get(path, { "If-None-Match": read })).status, "it has changed").to.equal(200);
    const once = await client.patch(path, { description: "once" }, { "If-Match": created });
    expect(webhookIn(once)).to.include({ description: "once", version: webhook.version + 1 });
    for (const stale of [created, read, '"x"', "W/*"]) {
      const refused = await client.patch(path, { description: "twice" }, { "If-Match": stale });
      expectProblem(refused, 412, "version_mismatch");
    }
    const removed = await client.request("DELETE", path, { headers: { "If-Match": read } });
    expectProblem(removed, 412, "version_mismatch");
    const rotated = await client.post(`${path}/rotate`);
    const tag = rotated.headers.get("etag") ?? "";
    expect((await client.request("DELETE", path, { headers: { "If-Match": tag } })).status).to.equal(204);
  });

  it("show their secret when they are created and when it is rotated, and nowhere else", async () => {
    const { path, webhook } = await create({ url: `${receiver.origin}/secret` });
    const rotated = (await client.post(`${path}/rotate`)).body.secret;
    expect(rotated).to.match(SECRET).and.not.equal(webhook.secret);
    const test = await client.post(`${path}/test`);
    await receiver.nudges("/secret", 1);
    await deliveryOf(client, path);
    const shown = [
      test,
      await client.get(path),
      await client.get("/webhooks"),
      await client.patch(path, { description: "y" }),
      await client.request("DELETE", path),
      await service.operators.audit.list(1_000, account.id),
      service.log,
    ];
    for (const text of shown.map((each) => JSON.stringify(each)))
      for (const secret of [webhook.secret, rotated])
        expect(text).not.to.include(secret).and.not.include(secret.slice(6));
  });

  it("are created once for an Idempotency-Key, with the same id and secret", async () => {
    const headers = { "Idempotency-Key": newKey() };
    const input = { url: URL_OF_NOBODY, states: ["completed"] };
    const [first, again] = [
      await client.post("/webhooks", input, headers),
      await client.post("/webhooks", input, headers),
    ];
    expect(again.status).to.equal(201);
    expect(again.body).to.deep.equal(first.body);
    expect(again.headers.get("idempotent-replayed")).to.equal("true");
    expect(webhooksIn(await client.get("/webhooks"))).to.have.length(1);
    const path = `/webhooks/${first.body.id}`;
    const rotate = { "Idempotency-Key": newKey() };
    const rotated = await client.post(`${path}/rotate`, {}, rotate);
    expect((await client.post(`${path}/rotate`, {}, rotate)).body).to.deep.equal(rotated.body);
    await client.request("DELETE", path);
    for (const gone of [
      await client.post("/webhooks", input, headers),
      await client.post(`${path}/rotate`, {}, rotate),
    ]) {
      expectProblem(gone, 404, "not_found");
      expect(JSON.stringify(gone.body)).not.to.include("whsec_");
    }
    expect(webhooksIn(await client.get("/webhooks"))).to.deep.equal([]);
  });
});
