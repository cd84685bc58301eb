import Type, { type Static } from "typebox";
import { about, component, nullable, omittable, oneOf, optional, readOnly, strict } from "../schema/fields.ts";
import { CANDIDATE_ID, REFERENCE_ID } from "../schema/example-ids.ts";
import {
  Email,
  freeText,
  Metadata,
  MetadataInput,
  MetadataPatch,
  phone,
  TimeOrNull,
  Timestamp,
} from "../schema/values.ts";
import { Chase, CHASED, ChaseInput, DecidedBy, Language, LANGUAGES, READ_ONLY } from "./document-schema.ts";
import { Decided, DECIDED } from "./history-schema.ts";
import { words } from "../schema/words.ts";

export const REFERENCE_STATES = words(
  "not_requested requested received declined bounced unresponsive waived cancelled",
);
export type ReferenceState = (typeof REFERENCE_STATES)[number];

const State = oneOf(REFERENCE_STATES);

/** What the fields mean, and an example. Requests and responses have the same words. */
const TEXT = {
  name: ["The referee's full name, up to 200 characters.", "Jordan Reyes"],
  email: ["The referee's email address.", "jordan@example.com"],
  state: [
    "How far the reference has come. not_requested: not asked yet. requested: the candidate is started. received: the referee has answered. declined, bounced, unresponsive: needs action. waived, cancelled: no longer needed.",
    "received",
  ],
  company: ["Where the referee and the candidate worked together, up to 200 characters.", "Initech"],
  job_title: ["The referee's job title, up to 200 characters.", "Head of Support"],
  relationship: ["How the referee knows the candidate, up to 200 characters.", "Line manager"],
  language: [`The language of messages to the referee: ${LANGUAGES}`, "de"],
} as const;

const referenceFields = {
  name: optional(freeText(200), ...TEXT.name),
  email: optional(Email, ...TEXT.email),
  phone: phone("The referee's phone number"),
  company: optional(freeText(200), ...TEXT.company),
  job_title: optional(freeText(200), ...TEXT.job_title),
  relationship: optional(freeText(200), ...TEXT.relationship),
  language: optional(Language, ...TEXT.language),
};

/** What the referee said: any JSON object of up to 16 KiB and 1,000 members and items, without numbers that lose digits. */
const Response = Type.Unsafe<Record<string, unknown>>({ type: "object", additionalProperties: true, "x-exact": true });
const ANSWERS = { would_rehire: true, comment: "Reliable and kind" };

const ELSEWHERE = { ...READ_ONLY, ...readOnly("requested_at", "received_at") };

export const ReferenceInput = component(
  "ReferenceInput",
  "A reference to add.",
  {
    ...referenceFields,
    metadata: optional(MetadataInput, "The client's own labels."),
    state: optional(
      State,
      "The state to begin in. Default: requested if the candidate is started, else not_requested.",
      "received",
    ),
    response: optional(
      Response,
      "What the referee said: any JSON object of up to 16 KiB, with up to 1,000 members and items in all.",
      ANSWERS,
    ),
    chase: optional(ChaseInput, CHASED),
  },
  { ...ELSEWHERE, decided_by: "send it with PATCH /references/{id}" },
);
export type ReferenceInput = Static<typeof ReferenceInput>;

export const ReferencePath = strict({
  id: about(Type.String(), "The id of the reference.", REFERENCE_ID),
});

export const ReferencePatch = component(
  "ReferencePatch",
  "Changes of a reference (JSON Merge Patch, RFC 7396): null clears a field, and a field that is left out stays as it is.",
  {
    ...referenceFields,
    metadata: optional(MetadataPatch, "Changes of the client's own labels. Null removes all."),
    state: omittable(State, "Moves the reference to this state.", "received"),
    response: optional(
      Response,
      "Changes of what the referee said, merged into it. The result is an object of up to 16 KiB, with up to 1,000 members and items in all.",
      ANSWERS,
    ),
    decided_by: DecidedBy,
  },
  ELSEWHERE,
);
export type ReferencePatch = Static<typeof ReferencePatch>;

export const Reference = component("Reference", "A person who is asked about a candidate, and what they said.", {
  object: about(oneOf(["reference"]), "The type of the object.", "reference"),
  id: about(Type.String(), "The id of the reference.", REFERENCE_ID),
  candidate_id: about(Type.String(), "The id of its candidate.", CANDIDATE_ID),
  name: about(nullable(Type.String()), ...TEXT.name),
  email: about(nullable(Type.String()), ...TEXT.email),
  phone: about(nullable(Type.String()), "The referee's phone number, as E.164.", "+14155550123"),
  company: about(nullable(Type.String()), ...TEXT.company),
  job_title: about(nullable(Type.String()), ...TEXT.job_title),
  relationship: about(nullable(Type.String()), ...TEXT.relationship),
  language: about(nullable(Type.String()), ...TEXT.language),
  state: about(State, ...TEXT.state),
  response: about(nullable(Response), "What the referee said: any JSON object.", ANSWERS),
  metadata: about(Metadata, "The client's own labels."),
  chase: about(Chase, "The reminders sent so far for the reference, and the next one."),
  decided: about(nullable(Decided), DECIDED),
  requested_at: about(
    TimeOrNull,
    "When the reference was first requested. Null if it never was.",
    "2026-08-17T09:31:00.000Z",
  ),
  received_at: about(
    TimeOrNull,
    "When the answer was received. Null unless the state is received.",
    "2026-08-19T14:05:37.206Z",
  ),
  created_at: about(Timestamp, "When the reference was added.", "2026-08-17T09:30:00.000Z"),
  updated_at: about(Timestamp, "When the reference was last changed.", "2026-08-19T14:05:37.206Z"),
});
export type Reference = Static<typeof Reference>;
