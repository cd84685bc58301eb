import type { ServerResponse } from "node:http";
import { expect } from "chai";
import { MAX_WEBHOOKS, type WebhookRecord } from "../../../src/webhooks/store.ts";
import type { Client } from "../../support/client.ts";
import { useReceiver } from "../../webhooks/receiver.ts";
import { createWebhook } from "../../webhooks/support.ts";
import { expectReadable, useObserved } from "../support/observed.ts";

/** Number of accounts, with five webhooks each: more than twice as many webhooks as may be told at once. */
const ACCOUNTS = 11;

describe("the alerts of webhooks", () => {
  const receiver = useReceiver();
  const { service, prometheus } = useObserved();
  const webhooks = () => service.operators.mongo.db.collection<WebhookRecord>("webhooks");

  /** Creates an account that has as many webhooks as it may, all with a receiver's path. */
  async function accountFor(path: string): Promise<Client> {
    const { client } = await service.account();
    for (let n = 0; n < MAX_WEBHOOKS; n++) await createWebhook(client, { url: receiver.origin + path });
    return client;
  }

  it("say that every nudge fails, until what waits for its retry is sent", async () => {
    receiver.answer("/unreachable", (response) => void response.destroy());
    const failed = service.logged(({ msg }) => msg === "nudge");
    for (let n = 0; n < 2; n++) await (await accountFor("/unreachable")).post("/candidates", {});
    await prometheus.until('webhook_nudges_total{outcome="failed"} >= 20'); // the second retry follows in five minutes
    expectReadable(await prometheus.firing("OnboardingWebhookNudgesFail"));
    // What src/docs/alerts.md tells operators to look at and to do.
    expect(await failed).to.include({ status: null, error: "connection", reason: "socket hang up" });
    receiver.answer("/unreachable", (response) => void response.writeHead(204).end());
    await webhooks().updateMany({ attempt: { $in: ["refused", "unanswered"] } }, { $set: { due_at: Date.now() } });
    await prometheus.until('webhook_nudges_total{outcome="sent"} == 10');
    await prometheus.quiet("OnboardingWebhookNudgesFail");
  });

  it("say that nudges are late while receivers that do not answer hold up others", async () => {
    const open: ServerResponse[] = [];
    receiver.answer("/silent", (response) => void open.push(response));
    const clients = await Promise.all(Array.from({ length: ACCOUNTS }, () => accountFor("/silent")));
    await Promise.all(clients.map((client) => client.post("/candidates", {})));
    await prometheus.until("webhook_lag_seconds > 0");
    await webhooks().updateMany({ telling: null, due_at: { $gt: 0 } }, { $inc: { due_at: -61_000 } });
    expectReadable(await prometheus.firing("OnboardingWebhookNudgesLate"));
    receiver.answer("/silent", (response) => void response.writeHead(204).end());
    for (const response of open) response.writeHead(204).end();
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
