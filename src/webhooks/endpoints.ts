import { endpoint } from "../api/endpoint.ts";
import { Webhook, WebhookInput, WebhookList, WebhookPatch, WebhookPath, WebhookWithSecret } from "./schema.ts";
import type { WebhookService } from "./service.ts";

const VIEW = { tag: "Webhooks", volatile: ["last_delivery", "next_attempt_at", "secret"] } as const;
const OF_ONE = { ...VIEW, params: WebhookPath, response: Webhook };
const WITH_SECRET = { ...VIEW, response: WebhookWithSecret };

/** The operations on an account's webhooks. */
export function webhookEndpoints(webhooks: WebhookService) {
  return {
    create: endpoint({
      ...WITH_SECRET,
      name: "createWebhook",
      summary: "Create a webhook",
      description:
        "Has the service tell a URL that candidates of the account have changed. The response has the secret that the nudges are signed with. Creation sends no nudge; POST /webhooks/{id}/test does.",
      body: WebhookInput,
      creates: "wh",
      status: 201,
      location: ({ id }) => `/webhooks/${id}`,
      problems: ["not_found", "too_many_webhooks"], // not_found: of a retry, once the webhook was deleted
      handle: ({ caller, body, newId }) => webhooks.create(caller, body, newId("wh")),
    }),
    list: endpoint({
      name: "listWebhooks",
      tag: "Webhooks",
      summary: "List the webhooks of the account",
      description: "Lists the account's webhooks, the oldest first.",
      response: WebhookList,
      problems: [],
      handle: ({ caller }) => webhooks.list(caller),
    }),
    read: endpoint({
      ...OF_ONE,
      name: "readWebhook",
      summary: "Read a webhook, with its last delivery",
      description: "Reads a webhook. The secret is not shown.",
      problems: ["not_found"],
      handle: ({ caller, params }) => webhooks.read(caller, params.id),
    }),
    update: endpoint({
      ...OF_ONE,
      name: "updateWebhook",
      summary: "Change a webhook, or turn it off or on",
      description:
        "Changes the fields that are sent. enabled: true, and another url, have what is still to be told sent at once.",
      body: WebhookPatch,
      problems: ["not_found", "version_mismatch"],
      handle: ({ caller, params, body, precondition }) => webhooks.update(caller, params.id, body, precondition),
    }),
    remove: endpoint({
      name: "deleteWebhook",
      tag: "Webhooks",
      summary: "Delete a webhook",
      description: "Deletes a webhook. A nudge that is under way may still arrive.",
      params: WebhookPath,
      status: 204,
      problems: ["not_found", "version_mismatch"],
      handle: ({ caller, params, precondition }) => webhooks.remove(caller, params.id, precondition),
    }),
    test: endpoint({
      ...OF_ONE,
      name: "testWebhook",
      summary: "Send a nudge now",
      description:
        "Sends one nudge, whether anything has changed or not, also if the webhook is disabled. last_delivery then says what became of it.",
      status: 202,
      problems: ["not_found"],
      handle: ({ caller, params }) => webhooks.test(caller, params.id),
    }),
    rotate: endpoint({
      ...WITH_SECRET,
      name: "rotateWebhook",
      summary: "Make a new secret",
      description: "Makes a new secret. For 24 hours nudges are signed with the one before, too.",
      params: WebhookPath,
      problems: ["not_found"],
      handle: ({ caller, params }) => webhooks.rotate(caller, params.id),
    }),
  };
}
