import { setTimeout as wait } from "node:timers/promises";
import type { Webhook, WebhookList, WebhookWithSecret } from "../../src/webhooks/schema.ts";
import type { Answer, Client } from "../support/client.ts";

const POLL_MS = 50;

/** A webhook as a client has it. */
export interface Created {
  readonly path: string;
  readonly webhook: WebhookWithSecret;
  readonly answer: Answer;
}

export const webhookIn = ({ body }: Answer) => body as unknown as Webhook;
export const webhooksIn = ({ body }: Answer) => (body as unknown as WebhookList).data;

/** Creates a webhook. */
export async function createWebhook(client: Client, input: object): Promise<Created> {
  const answer = await client.post("/webhooks", input);
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
  const webhook = answer.body as unknown as WebhookWithSecret;
  return { path: `/webhooks/${webhook.id}`, webhook, answer };
}

/** Resolves with what became of the first delivery that ends after `before`. */
export async function deliveryOf(client: Client, path: string, before: string | null = null) {
  for (; ; await wait(POLL_MS)) {
    const { last_delivery: last } = webhookIn(await client.get(path));
    if (last !== null && last.at !== before) return last;
  }
}

/** Has a nudge sent to a new webhook at once. Resolves with what became of it. */
export async function testDelivery(client: Client, url: string) {
  const { path } = await createWebhook(client, { url });
  await client.post(`${path}/test`);
  return deliveryOf(client, path);
}
