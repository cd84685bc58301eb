import { newTypeId } from "../../src/infra/ids.ts";
import { MAX_WEBHOOKS, NOTHING, type WebhookRecord } from "../../src/webhooks/store.ts";

type Values = Partial<WebhookRecord> & { account: string; url: string };

/** A webhook as it is right after its creation. */
export function webhookRecord(values: Values): WebhookRecord {
  const at = new Date().toISOString();
  const secrets = [{ secret: `whsec_${Buffer.alloc(32, "a").toString("base64")}`, until: null }];
  const facts = {
    _id: `${values.account}/0`,
    id: newTypeId("wh"),
    description: null,
    states: null,
    version: 1,
    secrets,
  };
  const fresh = { created_at: at, updated_at: at, disabled: null, last: null, sent_at: 0, quick: false };
  return { ...facts, ...fresh, ...NOTHING, ...values };
}

/** As many webhooks as an account may have. */
export function webhookRecords(values: Values): WebhookRecord[] {
  return Array.from({ length: MAX_WEBHOOKS }, (_, slot) =>
    webhookRecord({ ...values, _id: `${values.account}/${slot}` }),
  );
}
