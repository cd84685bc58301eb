import { expect } from "chai";
import type { WebhookRecord } from "../../src/webhooks/store.ts";
import { until } from "../erasure/support.ts";
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
  async function refused(path: string, status: number, headers: Record<string, string | string[]> = {}, by = client) {
    receiver.answer(path, (response) => response.writeHead(status, headers).end("marker"));
    const created = await createWebhook(by, { url: receiver.origin + path });
    await by.post("/candidates", {});
    await deliveryOf(by, created.path);
    const webhooks = service.operators.mongo.db.collection<WebhookRecord>("webhooks");
    const stored = await webhooks.findOne({ id: created.webhook.id });
    if (stored === null) throw new Error("The webhook is gone.");
    return { ...created, stored };
  }

  it("with 410 gets no more nudges, and the webhook says since when and why", async () => {
    const { path, webhook } = await refused("/gone", 410, { "Retry-After": "1" });
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

  const inAnHour = () => new Date(Date.now() + HOUR_S * 1_000).toUTCString();
  /** Retry-After, and in how many seconds the retry then is: at least, and at most. */
  const CASES: [name: string, headers: () => Record<string, string | string[]>, from: number, to: number][] = [
    ["nothing", () => ({}), 5, 5.6],
    ["an hour", () => ({ "Retry-After": "3600" }), HOUR_S, HOUR_S + 1],
    ["an hour, as a date", () => ({ "Retry-After": inAnHour() }), HOUR_S - 60, HOUR_S + 1],
    ["a date that is past", () => ({ "Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT" }), 5, 5.6],
    ["no time", () => ({ "Retry-After": "0" }), 5, 5.6],
    ["a time before now", () => ({ "Retry-After": "-3600" }), 5, 5.6],
    ["ten years", () => ({ "Retry-After": "315360000" }), 24 * HOUR_S, 24 * HOUR_S + 1],
    ["ten years, as a date", () => ({ "Retry-After": "Fri, 21 Nov 2036 07:28:00 GMT" }), 24 * HOUR_S, 24 * HOUR_S + 1],
    ["more than a number holds", () => ({ "Retry-After": "9".repeat(400) }), 24 * HOUR_S, 24 * HOUR_S + 1],
    ["nonsense", () => ({ "Retry-After": "soon; drop table" }), 5, 5.6],
    ["two times", () => ({ "Retry-After": ["3600", "7200"] }), 5, 7_201],
  ];
  it("with 429 is tried again after the usual pause, or after that of Retry-After, up to a day", async () => {
    const all = CASES.map(async ([name, headers, from, to]) => {
      const { client: theirs } = await service.account();
      const { path, stored } = await refused(`/${encodeURIComponent(name)}`, 429, headers(), theirs);
      expect(stored, name).to.include({ tries: 1, disabled: null });
      const at = Date.parse(stored.last?.at ?? "");
      expect(((stored.due_at ?? 0) - at) / 1_000, name).to.be.within(from - 0.1, to + 0.5);
      const { next_attempt_at } = webhookIn(await theirs.get(path));
      if (from > 60) expect(Date.parse(next_attempt_at ?? ""), name).to.equal(stored.due_at);
      expect(JSON.stringify(stored)).not.to.include("marker");
    });
    await Promise.all(all);
  });

  it("with a redirect is not asked anything at its new place", async () => {
    const { stored } = await refused("/moved", 307, { Location: `${receiver.origin}/new-place` });
    expect(stored).to.include({ tries: 1 });
    expect(stored.last).to.include({ status: 307, error: null });
    await until(() => receiver.received.some(({ path }) => path === "/moved"));
    expect(receiver.received.filter(({ path }) => path === "/new-place")).to.deep.equal([]);
  });
});
