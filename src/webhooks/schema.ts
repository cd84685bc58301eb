import Type, { type Static } from "typebox";
import { State } from "../candidates/schema.ts";
import { about, component, nullable, omittable, oneOf, optional, readOnly, strict } from "../schema/fields.ts";
import { WEBHOOK_ID } from "../schema/example-ids.ts";
import { freeText, TimeOrNull, Timestamp } from "../schema/values.ts";

/** Maximum length of a URL, also once it is percent-encoded. */
export const MAX_URL_LENGTH = 2_000;

const Url = about(
  Type.String({ minLength: 1, maxLength: MAX_URL_LENGTH }),
  "Where nudges are sent: an https URL whose host is a name, without user and password, up to 2,000 characters.",
  "https://ats.example.com/hooks/onboarding",
);
const Description = nullable(freeText(500));
const DESCRIPTION = ["Your own note, up to 500 characters.", "Mirror of the applicant tracking system"] as const;
const States = nullable(Type.Array(State, { minItems: 1, uniqueItems: true }));
const STATES = [
  "Nudges come only if a candidate came into one of these states. Null: for every change.",
  ["completed", "withdrawn"],
] as const;

const LastDelivery = component("LastDelivery", "The latest attempt to send a nudge.", {
  at: about(Timestamp, "When it ended.", "2026-08-17T09:30:00.000Z"),
  status: about(nullable(Type.Integer()), "The HTTP status of the answer. Null if there was none.", 204),
  error: about(
    nullable(oneOf(["address", "connection", "tls", "timeout"])),
    "Why there was no answer. address: the name has no address, or one that is not public. connection: none could be made, or it broke. tls: the certificate, or the handshake, failed. timeout: 15 seconds were over. Null if there was an answer.",
    null,
  ),
});
export type LastDelivery = Static<typeof LastDelivery>;

const ownFields = { description: optional(Description, ...DESCRIPTION), states: optional(States, ...STATES) };
const elsewhere = {
  ...readOnly("object", "id", "version", "created_at", "updated_at"),
  ...readOnly("last_delivery", "next_attempt_at", "disabled_reason", "disabled_at"),
  secret: "the service makes it; POST /webhooks/{id}/rotate makes a new one",
};

export const WebhookInput = component(
  "WebhookInput",
  "A webhook to create.",
  { url: Url, ...ownFields },
  { ...elsewhere, enabled: "it is true at first; PATCH /webhooks/{id} changes it" },
);
export type WebhookInput = Static<typeof WebhookInput>;

export const WebhookPatch = component(
  "WebhookPatch",
  "Changes of a webhook (JSON Merge Patch, RFC 7396): null clears description and states.",
  {
    url: Type.Optional(Url),
    ...ownFields,
    enabled: omittable(
      Type.Boolean(),
      "Whether nudges are sent. Setting it to true sends one at once if it was false, or if a retry waits.",
      true,
    ),
  },
  elsewhere,
);
export type WebhookPatch = Static<typeof WebhookPatch>;

const webhookFields = {
  object: about(oneOf(["webhook"]), "The type of the object.", "webhook"),
  id: about(Type.String(), "The webhook's id.", WEBHOOK_ID),
  url: Url,
  description: about(Description, ...DESCRIPTION),
  states: about(States, ...STATES),
  enabled: about(Type.Boolean(), "Whether nudges are sent.", true),
  disabled_reason: about(
    nullable(oneOf(["requested", "gone", "failing"])),
    "Why none are sent. requested: somebody turned it off. gone: the receiver answered 410. failing: the last of the retries, after three days, failed. Null while enabled.",
    null,
  ),
  disabled_at: about(TimeOrNull, "Since when none are sent. Null while enabled.", null),
  last_delivery: about(
    Type.Unsafe<LastDelivery | null>(nullable(LastDelivery)),
    "The latest attempt to send a nudge. Null before the first.",
  ),
  next_attempt_at: about(TimeOrNull, "When a nudge that failed is sent again. Null if none waits.", null),
  version: about(
    Type.Integer({ minimum: 1 }),
    "Counts the changes. last_delivery and next_attempt_at do not count.",
    1,
  ),
  created_at: about(Timestamp, "When the webhook was created.", "2026-08-17T09:30:00.000Z"),
  updated_at: about(Timestamp, "When the webhook was last changed.", "2026-08-17T09:30:00.000Z"),
};
export const Webhook = component(
  "Webhook",
  "Where an account is told that its candidates have changed.",
  webhookFields,
);
export type Webhook = Static<typeof Webhook>;

export const WebhookWithSecret = component(
  "WebhookWithSecret",
  "A webhook with the secret that its nudges are signed with. The secret is not shown again.",
  {
    ...webhookFields,
    secret: about(
      Type.String(),
      "The secret, for a library of Standard Webhooks: whsec_ and 32 bytes in base64.",
      "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=",
    ),
  },
);
export type WebhookWithSecret = Static<typeof WebhookWithSecret>;

export const WebhookList = component("WebhookList", "The account's webhooks, the oldest first.", {
  object: about(oneOf(["list"]), "The type of the object.", "list"),
  data: about(Type.Array(Webhook), "The webhooks, up to 5."),
});
export type WebhookList = Static<typeof WebhookList>;

export const WebhookPath = strict({ id: about(Type.String(), "The webhook's id.", WEBHOOK_ID) });
