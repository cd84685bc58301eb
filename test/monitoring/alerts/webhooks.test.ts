import type { ServerResponse } from "node:http";
import { expect } from "chai";
import type { WebhookRecord } from "../../../src/webhooks/store.ts";
import { useReceiver } from "../../webhooks/receiver.ts";
import { expectReadable, useObserved } from "../support/observed.ts";

/** Number of accounts, with five webhooks each: more than twice as many webhooks as may be told at once. */
const ACCOUNTS = 11;

describe("the alerts of webhooks", () => {
  const receiver = useReceiver();
  const { service, prometheus } = useObserved();
  const webhooks = () => service.operators.mongo.db.collection<WebhookRecord>("webhooks");

  it("say that every nudge fails, until what waits for its retry is sent", async () => {
    receiver.answer("/unreachable", (response) => void response.destroy());
    const failed = service.logged(({ msg }) => msg === "nudge");
    for (const { client } of [await service.account(), await service.account()]) {
      for (let n = 0; n < 5; n++)
        expect((await client.post("/webhooks", { url: `${receiver.origin}/unreachable` })).status).to.equal(201);
      await client.post("/candidates", {});
    }
    await prometheus.until('webhook_nudges_total{outcome="failed"} >= 20'); // the second retry follows in five minutes
    expectReadable(await prometheus.firing("OnboardingWebhookNudgesFail"));
    // What src/docs/alerts.md tells operators to look at and to do.
    expect(await failed).to.include({ status: null, error: "connection" });
    receiver.answer("/unreachable", (response) => void response.writeHead(204).end());
    await webhooks().updateMany({ attempt: { $in: ["refused", "unanswered"] } }, { $set: { due_at: Date.now() } });
    await prometheus.until('webhook_nudges_total{outcome="sent"} == 10');
    await prometheus.quiet("OnboardingWebhookNudgesFail");
  });

  it("say that nudges are late while receivers that do not answer hold up others", async () => {
    const open: ServerResponse[] = [];
    receiver.answer("/silent", (response) => void open.push(response));
    const accounts = await Promise.all(Array.from({ length: ACCOUNTS }, () => service.account()));
    for (const { client } of accounts)
      for (let n = 0; n < 5; n++)
        expect((await client.post("/webhooks", { url: `${receiver.origin}/silent` })).status).to.equal(201);
    await Promise.all(accounts.map(({ client }) => client.post("/candidates", {})));
    await prometheus.until("webhook_lag_seconds > 0");
    await webhooks().updateMany({ telling: null, due_at: { $gt: 0 } }, { $inc: { due_at: -61_000 } });
    expectReadable(await prometheus.firing("OnboardingWebhookNudgesLate"));
    receiver.answer("/silent", (response) => void response.writeHead(204).end());
    for (const response of open) response.writeHead(204).end();
    await prometheus.quiet("OnboardingWebhookNudgesLate");
  });

  it("say that nudges are late if no replica sends any", async () => {
    const leases = service.operators.mongo.db.collection<{ _id: string }>("leases");
    const take = () =>
      leases.updateOne(
        { _id: "nudges" },
        { $set: { until: Date.now() + 86_400_000, holder: "nobody" }, $inc: { term: 1 } },
      );
    await take();
    const renewing = setInterval(() => void take(), 2_000);
    await prometheus.firing("OnboardingWebhookNudgesLate").finally(() => clearInterval(renewing));
    await leases.deleteOne({ _id: "nudges" });
    await prometheus.quiet("OnboardingWebhookNudgesLate");
  });

  it("say that a webhook was disabled because its last retry failed, and its owner can start it again", async () => {
    receiver.answer("/broken", (response) => void response.writeHead(500).end());
    const { client } = await service.account();
    const { id } = (await client.post("/webhooks", { url: `${receiver.origin}/broken` })).body;
    const disabled = service.logged(({ msg }) => msg === "webhook disabled");
    await webhooks().updateOne({ id }, { $set: { tries: 9 } }); // as if the retries of three days had failed
    await client.post("/candidates", {});
    expectReadable(await prometheus.firing("OnboardingWebhookDisabled"));
    // What src/docs/alerts.md tells operators and the account to look at and to do.
    expect(await disabled).to.include({ webhook: id, reason: "failing" });
    expect((await client.get(`/webhooks/${id}`)).body).to.include({ enabled: false, disabled_reason: "failing" });
    receiver.answer("/broken", (response) => void response.writeHead(204).end());
    expect((await client.patch(`/webhooks/${id}`, { enabled: true })).body).to.include({ enabled: true });
    await receiver.nudges("/broken", 2);
    await prometheus.quiet("OnboardingWebhookDisabled");
  });
});
