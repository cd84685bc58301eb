import { expect } from "chai";
import type { WebhookRecord } from "../../src/webhooks/store.ts";
import { until } from "../erasure/support.ts";
import { useOwnService } from "../support/use-service.ts";
import { useHostileReceiver } from "./hostile-receiver.ts";
import { useReceiver } from "./receiver.ts";
import { createWebhook } from "./support.ts";

const ACCOUNTS = 12;
const WEBHOOKS = 5;
/** Deliveries at once to receivers that were slow the last time, or are new. */
const LANE = 25;

describe("60 receivers that never answer", () => {
  const service = useOwnService({ LIMIT_SCALE: 1_000 });
  const receiver = useReceiver();
  const hanging = useHostileReceiver({});
  const webhooks = () => service.operators.mongo.db.collection<WebhookRecord>("webhooks");

  it("hold back nobody who answered quickly before: such a nudge still comes within 3 seconds", async () => {
    const { client } = await service.account();
    const { webhook } = await createWebhook(client, { url: `${receiver.origin}/quick` });
    await client.post("/candidates", {});
    await receiver.nudges("/quick", 1);
    await until(async () => (await webhooks().countDocuments({ id: webhook.id, quick: true })) === 1);
    // The pace would have the next one wait for half a minute.
    await webhooks().updateOne({ id: webhook.id }, { $set: { sent_at: 0 } });

    for (let account = 0; account < ACCOUNTS; account++) {
      const { client: theirs } = await service.account();
      for (let n = 0; n < WEBHOOKS; n++)
        await createWebhook(theirs, {
          url: `${hanging.origin}/${account}/${n}`,
          states: n % 2 === 0 ? null : ["created"],
        });
      await theirs.post("/candidates", {});
    }
    await until(() => hanging.connections >= LANE);
    const began = performance.now();
    await client.post("/candidates", {});
    const [, second] = await receiver.nudges("/quick", 2);
    expect((second?.at ?? Infinity) - began).to.be.below(3_000);
    expect(hanging.connections).to.equal(LANE);
    expect(new Set(hanging.asked).size, "one delivery a webhook").to.equal(LANE);
  });
});

describe("30 receivers that answered quickly until now, and never answer", () => {
  const service = useOwnService({ LIMIT_SCALE: 1_000 });
  const receiver = useReceiver();
  const hanging = useHostileReceiver({});
  const webhooks = () => service.operators.mongo.db.collection<WebhookRecord>("webhooks");

  it("hold back a quick one for 2 seconds, not 15", async () => {
    const { client } = await service.account();
    const { webhook } = await createWebhook(client, { url: `${receiver.origin}/still-quick` });
    const since = webhook.created_at;
    const all = [client];
    for (let account = 0; account < 6; account++) {
      const { client: theirs } = await service.account();
      all.push(theirs);
      for (let n = 0; n < WEBHOOKS; n++)
        await createWebhook(theirs, { url: `${hanging.origin}/later/${account}/${n}` });
    }
    // As if each had answered at once until now.
    await webhooks().updateMany({ created_at: { $gte: since } }, { $set: { quick: true, sent_at: 0 } });
    await Promise.all(all.slice(1).map((theirs) => theirs.post("/candidates", {})));
    await until(() => hanging.connections >= LANE);
    const began = performance.now();
    await client.post("/candidates", {});
    const [first] = await receiver.nudges("/still-quick", 1);
    expect((first?.at ?? Infinity) - began).to.be.below(5_000);
  });
});
