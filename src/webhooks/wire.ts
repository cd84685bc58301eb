import type { Config } from "../config.ts";
import type { Logger } from "pino";
import type { Mongo } from "../infra/mongo.ts";
import { networksIn } from "../urls.ts";
import { delivery } from "./delivery.ts";
import { nudger, type NudgerOptions } from "./nudger.ts";
import { receiverRules } from "./receivers.ts";
import { webhookService, type WebhookServiceOptions } from "./service.ts";
import { WebhookStore } from "./store.ts";

type Parts = Omit<NudgerOptions & WebhookServiceOptions, "store" | "receivers" | "deliver">;
type Given = Parts & { mongo: Mongo; config: Config; log: Logger };

/** Returns the service of webhooks, what sends nudges to them, and the indexes of what is stored. */
export function openWebhooks(given: Given) {
  const { NODE_ENV, WEBHOOK_ALLOWED_NETWORKS, WEBHOOK_PROXY_URL: proxy } = given.config;
  const store = new WebhookStore(given.mongo);
  const isProduction = NODE_ENV === "production";
  const receivers = receiverRules({ isProduction, allowed: networksIn(WEBHOOK_ALLOWED_NETWORKS) });
  const deliver = delivery({ ...given, receivers, proxy });
  const parts = { ...given, store, receivers, deliver };
  return { service: webhookService(parts), nudger: nudger(parts), indexes: store.indexes };
}
