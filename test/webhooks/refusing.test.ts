import { expect } from "chai";
import type { WebhookRecord } from "../../src/webhooks/store.ts";
import { useAccount, useService } from "../support/use-service.ts";
import { useReceiver } from "./receiver.ts";
import { createWebhook, deliveryOf, webhookIn } from "./support.ts";

const HOUR_S = 3_600;

describe("a receiver that refuses", () => {
  const service = useService();
  const account = useAccount(service);
  const receiver = useReceiver();
  const { client } = account;

  /** Has a nudge sent to a path, and resolves with what is stored of the webhook once its answer is recorded. */
  async function refused(path: string, status: number, retryAfter: string, by = client) {
    receiver.answer(path, (response) => response.writeHead(status, { "Retry-After": retryAfter }).end());
    const created = await createWebhook(by, { url: receiver.origin + path });
    await by.post("/candidates", {});
    await deliveryOf(by, created.path);
    const webhooks = service.operators.mongo.db.collection<WebhookRecord>("webhooks");
    const stored = await webhooks.findOne({ id: created.webhook.id });
    if (stored === null) throw new Error("The webhook is gone.");
    return { ...created, stored };
  }

  it("with 410 gets no more nudges, and the webhook says since when and why", async () => {
    const { path, webhook } = await refused("/gone", 410, "1");
    const shown = webhookIn(await client.get(path));
    expect(shown).to.include({ enabled: false, disabled_reason: "gone", version: 2 });
    expect(shown.last_delivery).to.include({ status: 410, error: null });
    expect(Date.parse(shown.disabled_at ?? "")).to.be.closeTo(Date.now(), 60_000);
    const { data } = await service.operators.audit.list(100, account.id);
    const noted = data.filter(({ action }) => action === "webhooks disabled");
    expect(noted.map(({ actor, subject, details }) => ({ actor, subject, details }))).to.deep.equal([
      { actor: "nudges", subject: webhook.id, details: { reason: "gone" } },
    ]);
    receiver.answer("/gone", (response) => response.writeHead(204).end());
    await client.patch(path, { enabled: true });
    await receiver.nudges("/gone", 2);
    expect(await deliveryOf(client, path, shown.last_delivery?.at)).to.include({ status: 204 });
    expect(webhookIn(await client.get(path))).to.include({ enabled: true, disabled_reason: null });
  });

  it("a test with 410 is not disabled by it", async () => {
    receiver.answer("/tested", (response) => response.writeHead(410).end());
    const { path } = await createWebhook(client, { url: `${receiver.origin}/tested` });
    await client.post(`${path}/test`);
    expect(await deliveryOf(client, path)).to.include({ status: 410 });
    expect(webhookIn(await client.get(path))).to.include({ enabled: true, version: 1 });
  });

  it("with 429 is tried again after the usual pause, or after that of Retry-After, up to a day", async () => {
    const inAnHour = new Date(Date.now() + HOUR_S * 1_000).toUTCString();
    /** Retry-After, and the minimum and maximum number of seconds until the retry. */
    const cases: [header: string, from: number, to: number][] = [
      ["soon", 5, 5.6],
      ["3600", HOUR_S, HOUR_S + 1],
      [inAnHour, HOUR_S - 60, HOUR_S + 1],
      ["Wed, 21 Oct 2015 07:28:00 GMT", 5, 5.6],
      ["-3600", 5, 5.6],
      ["9".repeat(400), 24 * HOUR_S, 24 * HOUR_S + 1],
    ];
    const all = cases.map(async ([header, from, to], n) => {
      const { client: theirs } = await service.account();
      const { path, stored } = await refused(`/${n}`, 429, header, theirs);
      expect(stored, header).to.include({ tries: 1, disabled: null });
      const at = Date.parse(stored.last?.at ?? "");
      expect(((stored.due_at ?? 0) - at) / 1_000, header).to.be.within(from - 0.1, to + 0.5);
      const { next_attempt_at } = webhookIn(await theirs.get(path));
      if (from > 60) expect(Date.parse(next_attempt_at ?? ""), header).to.equal(stored.due_at);
    });
    await Promise.all(all);
  });
});
