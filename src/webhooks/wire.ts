import type { Logger } from "pino";
import type { AccountStore } from "../accounts/store.ts";
import type { AuditStore } from "../audit/store.ts";
import type { ChangedAccounts } from "../candidates/changed-accounts-store.ts";
import type { Checkpoints } from "../candidates/checkpoints.ts";
import type { Config } from "../config.ts";
import type { Idempotency } from "../idempotency/idempotency.ts";
import type { Clock } from "../infra/clock.ts";
import type { NewId } from "../infra/ids.ts";
import type { Metrics } from "../infra/metrics.ts";
import type { Mongo } from "../infra/mongo.ts";
import { networksIn } from "../urls.ts";
import { delivery } from "./delivery.ts";
import { nudger } from "./nudger.ts";
import { receiverRules } from "./receivers.ts";
import { webhookService } from "./service.ts";
import { WebhookStore } from "./store.ts";

interface Given {
  readonly mongo: Mongo;
  readonly config: Config;
  readonly accounts: AccountStore;
  readonly audit: AuditStore;
  readonly idempotency: Idempotency;
  readonly changed: ChangedAccounts;
  readonly checkpoints: Checkpoints;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly random: (bytes: number) => Buffer;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Returns the service of webhooks, what sends nudges to them, and the indexes of what is stored. */
export function openWebhooks(given: Given) {
  const { NODE_ENV, WEBHOOK_ALLOWED_NETWORKS, WEBHOOK_PROXY_URL: proxy } = given.config;
  const store = new WebhookStore(given.mongo);
  const isProduction = NODE_ENV === "production";
  const receivers = receiverRules({ isProduction, allowed: networksIn(WEBHOOK_ALLOWED_NETWORKS) });
  const deliver = delivery({ receivers, proxy, clock: given.clock });
  const parts = { ...given, store, receivers, deliver };
  return { service: webhookService(parts), nudger: nudger(parts), indexes: store.indexes };
}
