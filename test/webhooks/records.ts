import { newTypeId } from "../../src/infra/ids.ts";
import { NOTHING, type WebhookRecord } from "../../src/webhooks/store.ts";

/** A webhook as it is right after its creation. */
export function webhookRecord(
  values: Partial<WebhookRecord> & { account: string; url: string },
): Omit<WebhookRecord, "_id"> {
  const at = new Date().toISOString();
  const secrets = [{ secret: `whsec_${Buffer.alloc(32, "a").toString("base64")}`, until: null }];
  const facts = { id: newTypeId("wh"), description: null, states: null, version: 1, secrets };
  const fresh = { created_at: at, updated_at: at, disabled: null, last: null, sent_at: 0, quick: false };
  return { ...facts, ...fresh, ...NOTHING, ...values };
}
