import type { IncomingHttpHeaders } from "node:http";
import { expect } from "chai";
import { Webhook } from "standardwebhooks";
import { useAccount, useService } from "../support/use-service.ts";
import { useReceiver } from "./receiver.ts";
import { createWebhook, deliveryOf } from "./support.ts";

describe("nudges", () => {
  const service = useService();
  const account = useAccount(service);
  const { client } = account;
  const receiver = useReceiver();

  it("tell a receiver that a candidate has changed, signed so that the package standardwebhooks verifies it", async () => {
    const created = await client.post("/webhooks", { url: `${receiver.origin}/first` });
    expect(created.status).to.equal(201);
    const candidate = await client.post("/candidates", {});
    const [nudge] = await receiver.nudges("/first", 1);
    const body = new Webhook(created.body.secret).verify(nudge?.body ?? "", nudge?.headers as Record<string, string>);
    expect(body).to.deep.include({
      type: "candidates.changed",
      data: { webhook: created.body.id, since: candidate.body.created_at },
    });
  });

  it("come to a webhook with states only once a candidate comes into one of them", async () => {
    const { body: filtered } = await client.post("/webhooks", {
      url: `${receiver.origin}/some`,
      states: ["withdrawn"],
    });
    await client.post("/webhooks", { url: `${receiver.origin}/all` });
    const candidate = await client.post("/candidates", { name: "Ada" });
    await receiver.nudges("/all", 1);
    expect((await client.get(`/webhooks/${filtered.id}`)).body.last_delivery).to.equal(null);
    await client.patch(`/candidates/${candidate.body.id}`, { withdrawn: true });
    await receiver.nudges("/some", 1);
  });

  it("are not sent while the webhook is turned off, and begin with one when it is turned on", async () => {
    const { body: webhook } = await client.post("/webhooks", { url: `${receiver.origin}/off` });
    const off = await client.patch(`/webhooks/${webhook.id}`, { enabled: false });
    expect(off.body).to.include({ enabled: false, disabled_reason: "requested" });
    await client.post("/webhooks", { url: `${receiver.origin}/on` });
    await client.post("/candidates", {});
    await receiver.nudges("/on", 1);
    expect(receiver.received.filter(({ path }) => path === "/off")).to.deep.equal([]);
    const on = await client.patch(`/webhooks/${webhook.id}`, { enabled: true });
    expect(on.body).to.include({ enabled: true, disabled_reason: null, disabled_at: null });
    const [nudge] = await receiver.nudges("/off", 1);
    expect(JSON.parse(nudge?.body ?? "").data.since).to.equal(off.body.disabled_at);
  });

  it("are tests when somebody asks for one, also of a webhook that is turned off, and creation sends none", async () => {
    const { path } = await createWebhook(client, { url: `${receiver.origin}/test` });
    await client.patch(path, { enabled: false });
    const asked = await client.post(`${path}/test`);
    expect(asked.status).to.equal(202);
    expect(asked.body).to.include({ enabled: false, last_delivery: null });
    expect(await deliveryOf(client, path)).to.include({ status: 204, error: null });
    expect(receiver.received.filter((nudge) => nudge.path === "/test")).to.have.length(1);
  });

  it("are signed with the secret before, too, for a day after a rotation", async () => {
    const { body: before } = await client.post("/webhooks", { url: `${receiver.origin}/rotated` });
    const { body: after } = await client.post(`/webhooks/${before.id}/rotate`);
    expect(after.secret).not.to.equal(before.secret);
    await client.post(`/webhooks/${before.id}/test`);
    const [nudge] = await receiver.nudges("/rotated", 1);
    for (const { secret } of [before, after])
      new Webhook(secret).verify(nudge?.body ?? "", nudge?.headers as Record<string, string>);
    const signatures = (headers: IncomingHttpHeaders = {}) => String(headers["webhook-signature"]).split(" ");
    expect(signatures(nudge?.headers)).to.have.length(2);
    const secrets = [
      { secret: after.secret, until: null },
      { secret: before.secret, until: Date.now() - 1 },
    ];
    await service.operators.mongo.db.collection("webhooks").updateOne({ id: before.id }, { $set: { secrets } });
    await client.post(`/webhooks/${before.id}/test`);
    const [, second] = await receiver.nudges("/rotated", 2);
    expect(signatures(second?.headers)).to.have.length(1);
    new Webhook(after.secret).verify(second?.body ?? "", second?.headers as Record<string, string>);
  });
});
