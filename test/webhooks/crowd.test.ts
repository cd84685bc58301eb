import type { ServerResponse } from "node:http";
import { expect } from "chai";
import { MAX_WEBHOOKS, type WebhookRecord } from "../../src/webhooks/store.ts";
import { until } from "../erasure/support.ts";
import { useOwnService } from "../support/use-service.ts";
import { useReceiver } from "./receiver.ts";
import { createWebhook } from "./support.ts";

const ACCOUNTS = 6;
/** Deliveries at once to receivers that were slow the last time, or are new; and as many to all others. */
const LANE = 25;

describe("30 receivers that never answer", () => {
  const service = useOwnService({ LIMIT_SCALE: 1_000 });
  const receiver = useReceiver();
  let open: ServerResponse[] = [];
  const webhooks = () => service.operators.mongo.db.collection<WebhookRecord>("webhooks");
  const told = (path: string) => receiver.received.filter((nudge) => nudge.path === path);
  afterEach(async () => {
    for (const path of ["/new", "/quick-before"]) receiver.answer(path, (response) => response.writeHead(410).end());
    for (const response of open) response.writeHead(410).end();
    await until(async () => (await webhooks().countDocuments({ due_at: { $gt: 0 } })) === 0);
    open = [];
  });

  /** Adds them. @returns what has the candidates of their accounts change. */
  async function crowd(path: string) {
    receiver.answer(path, (response) => void open.push(response));
    const clients = Array.from({ length: ACCOUNTS }, async () => {
      const { client } = await service.account();
      for (let n = 0; n < MAX_WEBHOOKS; n++) await createWebhook(client, { url: receiver.origin + path });
      return client;
    });
    const all = await Promise.all(clients);
    return async () => {
      await Promise.all(all.map((client) => client.post("/candidates", {})));
      await until(() => told(path).length >= LANE);
    };
  }

  it("hold back nobody who answered quickly before: such a nudge still comes within 3 seconds", async () => {
    const { client } = await service.account();
    const { webhook } = await createWebhook(client, { url: `${receiver.origin}/quick` });
    await client.post("/candidates", {});
    await receiver.nudges("/quick", 1);
    await until(async () => (await webhooks().countDocuments({ id: webhook.id, quick: true })) === 1);
    // The pace would have the next one wait for half a minute.
    await webhooks().updateOne({ id: webhook.id }, { $set: { sent_at: 0 } });
    await (
      await crowd("/new")
    )();
    const began = performance.now();
    await client.post("/candidates", {});
    const [, second] = await receiver.nudges("/quick", 2);
    expect((second?.at ?? Infinity) - began).to.be.below(3_000);
    const ids = told("/new").map(({ body }) => (JSON.parse(body) as { data: { webhook: string } }).data.webhook);
    expect(ids).to.have.length(LANE);
    expect(new Set(ids).size, "one delivery a webhook").to.equal(LANE);
  });

  it("although they did until now, hold back a quick one for 2 seconds, not 15", async () => {
    const { client } = await service.account();
    await createWebhook(client, { url: `${receiver.origin}/still-quick` });
    const change = await crowd("/quick-before");
    await webhooks().updateMany({}, { $set: { quick: true } });
    await change();
    const began = performance.now();
    await client.post("/candidates", {});
    const [first] = await receiver.nudges("/still-quick", 1);
    expect((first?.at ?? Infinity) - began).to.be.below(5_000);
  });
});
