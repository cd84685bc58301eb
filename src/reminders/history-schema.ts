import Type, { type Static } from "typebox";
import { ID, Outreach } from "../candidates/schema.ts";
import { about, component, nullable, oneOf } from "../schema/fields.ts";
import { DOCUMENT_ID } from "../schema/example-ids.ts";
import { Timestamp } from "../schema/values.ts";

export const OUTCOMES = ["sent", "deferred", "bounced", "outage", "unconfirmed"] as const;

const SentMessage = component("SentMessage", "One time that a reminder was given to the mail server.", {
  to: about(Type.String(), "Whom it is to: candidate, or the id of the reference.", "candidate"),
  subject: about(
    nullable(Type.String()),
    "The subject. Null if 0.1.0 sent the message.",
    "Acme needs documents from you",
  ),
  at: about(Timestamp, "When the mail server answered.", "2026-08-17T09:31:00.000Z"),
  outcome: about(
    oneOf(OUTCOMES),
    "What became of it. sent: the mail server took it. deferred: it refused the address for the moment, and the message is tried again. bounced: it does not accept mail to the address. outage: it could not be used, and the message is tried again. unconfirmed: the connection broke before its answer, so the message may have gone out.",
    "sent",
  ),
  tries: about(Type.Integer({ minimum: 1 }), "How often this message was given to the mail server by then.", 1),
  documents: about(Type.Array(Type.String()), "The ids of the documents that it asks for.", [DOCUMENT_ID]),
});

export const CandidateOutreach = component("CandidateOutreach", "The reminders of a candidate: planned and sent.", {
  object: about(oneOf(["candidate_outreach"]), "The type of the object.", "candidate_outreach"),
  candidate_id: about(Type.String(), ...ID),
  next_at: Outreach.properties.next_at,
  reason: Outreach.properties.reason,
  messages: about(Type.Array(SentMessage), "The latest messages, at most 200, the oldest first."),
});
export type CandidateOutreach = Static<typeof CandidateOutreach>;
