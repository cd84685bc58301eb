import Type, { type Static } from "typebox";
import { about, component, nullable, omittable, oneOf, strict, titled } from "../schema/fields.ts";
import { CANDIDATE_ID, DOCUMENT_ID } from "../schema/example-ids.ts";
import { CalendarDate, Count, freeText, Metadata, TimeOrNull, Timestamp } from "../schema/values.ts";
import { CandidateName, Document, LANGUAGES, OUTREACH_REASONS } from "./document-schema.ts";
import { Reference } from "./reference-schema.ts";

export const MAX_DOCUMENTS = 200;
export const MAX_REFERENCES = 50;

export const CANDIDATE_STATES = ["created", "in_progress", "action_required", "completed", "withdrawn"] as const;
export type CandidateState = (typeof CANDIDATE_STATES)[number];

export const State = oneOf(CANDIDATE_STATES);

export const ChaseAttempts = Type.Integer({ minimum: 0, maximum: 100 });

/** No two ids differ only in what nobody sees: what joins letters or turns them around is refused, the rest is left out. */
export const ExternalId = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: "^[^\\u0000-\\u001f\\u007f-\\u009f\\u200c\\u200d\\u202d\\u202e]*$",
  "x-must-be": "a string of 1 to 200 visible characters",
  "x-identifier": true,
});

/** What the fields mean, and an example. Requests and responses have the same words. */
export const TEXT = {
  external_id: [
    "The client's own id of the candidate: 1 to 200 visible characters, unique in the account.",
    "ats-4711",
  ],
  name: ["The full name, up to 200 characters.", "Ada Okafor"],
  first_name: ["The first name, up to 200 characters.", "Ada"],
  last_name: ["The last name, up to 200 characters.", "Okafor"],
  email: ["The email address.", "ada@example.com"],
  language: [`The language of messages to the candidate: ${LANGUAGES}`, "de"],
  job_title: ["The job that the candidate is hired for, up to 200 characters.", "Support Engineer"],
  start_date: ["The first working day.", "2026-09-01"],
  docs_chase_attempts: ["How many reminders may list the same document, 0 to 100.", 3],
  reference_chase_attempts: ["How many reminders a referee may get, 0 to 100.", 3],
  references_required: [
    "How many references must be received, 0 to 50. Null: all those that are neither waived nor cancelled.",
    2,
  ],
  outreach_enabled: ["Whether reminders go out for the candidate, to it and to its referees.", true],
  withdrawn: ["Whether the candidate is withdrawn.", false],
  hold: [
    "A legal hold: while there is one, neither the candidate nor its documents and references can be deleted.",
    null,
  ],
  withdrawal_reason: ["Why the candidate was withdrawn, up to 1,000 characters.", "Took another offer"],
} as const;

export const ID = ["The id of the candidate.", CANDIDATE_ID] as const;

const WaitingOn = component("WaitingOn", "One thing that is still missing.", {
  code: about(
    Type.String(),
    "What is missing: not_started, candidate_bounced, candidate_opted_out, references_missing, reference_opted_out, reference_without_email, or document_ or reference_ followed by a state.",
    "document_rejected",
  ),
  subject: about(Type.String(), "The id of the document, reference or candidate that it is about.", DOCUMENT_ID),
  message: about(
    Type.String(),
    "A sentence for a person.",
    'Document "Passport" was rejected: The photo is not readable',
  ),
});
export type WaitingOn = Static<typeof WaitingOn>;

export const Outreach = component("Outreach", "When the next reminder goes out, or why none will, or why it waits.", {
  next_at: about(
    TimeOrNull,
    "When the next reminder goes out to the candidate or to a referee. Null if none will.",
    "2026-08-21T09:31:00.000Z",
  ),
  reason: about(
    nullable(oneOf(OUTREACH_REASONS)),
    "Why no reminder will go out, or why it waits. withdrawn: the candidate is withdrawn. not_started: it is not started. nothing_outstanding: nobody is asked for anything. disabled: outreach_enabled is false, the assistant or its email channel is off, the account is paused or suspended, or the service sends no mail. quiet_hours: the quiet hours never end. no_email: there is no email address to write to. opted_out: the recipient asked for no more messages. bounced: the address does not accept mail. cap_reached: docs_chase_attempts or reference_chase_attempts is used up. mail_limit: the messages of the day are used up, and the reminder goes out at next_at. restored: it was due before the service was restored from a backup, and waits for its operator. If the candidate and the referees have different reasons, this is the first one, in the order of the records. Null if a reminder will go out and nothing holds it up.",
    null,
  ),
});

export const Warning = component("Warning", "A value that could not be read, and where its text is kept.", {
  pointer: about(Type.String(), "Where the value is in the body: a JSON Pointer (RFC 6901).", "/phone"),
  detail: about(
    Type.String(),
    "What is wrong with it, and where its text is.",
    "must start with + and the country code. Its text is kept in metadata as unreadable.phone",
  ),
});

const ReferenceRequirements = component(
  "ReferenceRequirements",
  "How many references are needed, and how many are there.",
  {
    required: about(
      Count,
      "How many references must be received: references_required, or else the number of those that are neither waived nor cancelled.",
      2,
    ),
    received: about(Count, "How many references were received.", 1),
    outstanding: about(Count, "How many are still to be received: required - received, at least 0.", 1),
  },
);
export type ReferenceRequirements = Static<typeof ReferenceRequirements>;

const HOLD = "Why a candidate must be kept.";
const REASON = ["The reason, 1 to 500 characters.", "Dispute of 2026-08"] as const;
const Hold = component("Hold", HOLD, { reason: about(Type.String(), ...REASON) });
const input = component("HoldInput", HOLD, { reason: about(freeText(500, 1), ...REASON) });
/** An empty cell lifts no hold. */
export const HoldInput = { ...input, "x-explicit": true };

export const Candidate = component("Candidate", "A candidate with all documents and references.", {
  object: about(oneOf(["candidate"]), "The type of the object.", "candidate"),
  id: about(Type.String(), ...ID),
  external_id: about(nullable(Type.String()), ...TEXT.external_id),
  name: about(nullable(Type.String()), ...TEXT.name),
  first_name: about(nullable(Type.String()), ...TEXT.first_name),
  last_name: about(nullable(Type.String()), ...TEXT.last_name),
  email: about(nullable(Type.String()), ...TEXT.email),
  phone: about(nullable(Type.String()), "The phone number, as E.164.", "+14155550123"),
  language: about(nullable(Type.String()), ...TEXT.language),
  job_title: about(nullable(Type.String()), ...TEXT.job_title),
  start_date: about(nullable(CalendarDate), ...TEXT.start_date),
  metadata: about(Metadata, "The client's own labels."),
  docs_chase_attempts: about(ChaseAttempts, ...TEXT.docs_chase_attempts),
  reference_chase_attempts: about(ChaseAttempts, ...TEXT.reference_chase_attempts),
  references_required: about(nullable(Type.Integer()), ...TEXT.references_required),
  reference_requirements: about(ReferenceRequirements, "How many references are needed, and how many are there."),
  outreach: about(Outreach, "When the next reminder goes out, or why none will."),
  outreach_enabled: about(Type.Boolean(), ...TEXT.outreach_enabled),
  state: about(
    State,
    "Derived from the documents and references. created: until it is started. in_progress: something is outstanding. action_required: a document is rejected or expired, or a reference is declined, bounced or unresponsive. completed: everything is settled. withdrawn: the client withdrew it.",
    "in_progress",
  ),
  state_reason: about(
    nullable(Type.String()),
    "Why the state is action_required or withdrawn, in a sentence for a person. Null in other states.",
    'Document "Passport" was rejected: The photo is not readable',
  ),
  waiting_on: about(
    Type.Array(WaitingOn),
    "What is still missing. Empty once the candidate is completed or withdrawn.",
  ),
  withdrawn: about(Type.Boolean(), ...TEXT.withdrawn),
  withdrawal_reason: about(nullable(Type.String()), ...TEXT.withdrawal_reason),
  hold: about(nullable(Hold), ...TEXT.hold),
  erases_at: about(
    TimeOrNull,
    "From when the candidate is erased without a request, by the account's retention settings. Null: never, or there is a hold.",
    "2027-08-19T14:05:37.206Z",
  ),
  documents: about(Type.Array(Document), "The documents, in the order in which they were added."),
  references: about(Type.Array(Reference), "The references, in the order in which they were added."),
  version: about(Type.Integer({ minimum: 1 }), "Counts the changes of the candidate, from 1.", 7),
  pack_version: about(Type.Integer({ minimum: 1 }), "Counts the changes of what the pack shows, from 1.", 5),
  created_at: about(Timestamp, "When the candidate was created.", "2026-08-17T09:30:00.000Z"),
  updated_at: about(Timestamp, "When the candidate was last changed.", "2026-08-19T14:05:37.206Z"),
  started_at: about(TimeOrNull, "When the candidate was started. Null until then.", "2026-08-17T09:31:00.000Z"),
  warnings: omittable(
    Type.Array(Warning),
    "Only in the response to a request with unreadable=metadata: what was not readable.",
  ),
});
export type Candidate = Static<typeof Candidate>;

/** What became of a candidate that was sent. */
export const OUTCOMES = ["created", "updated", "unchanged"] as const;

export const DryRun = component("DryRun", "What a request would create or change. Nothing is stored.", {
  object: about(oneOf(["dry_run"]), "The type of the object.", "dry_run"),
  valid: about(Type.Boolean(), "Always true: a request that is not valid is answered with a problem.", true),
  outcome: omittable(oneOf(OUTCOMES), "What would become of the candidate.", "created"),
  would_create: about(Candidate, "The candidate as it would be. The ids of what is new are examples."),
});
export type DryRun = Static<typeof DryRun>;

export const CandidateOrDryRun = titled(
  "CandidateOrDryRun",
  "The candidate, or what a dry run would do with it. The member object tells which.",
  Type.Unsafe<Candidate | DryRun>({ oneOf: [Candidate, DryRun] }),
);

export const CandidatePath = strict({ id: CandidateName });

export const ListQuery = strict({
  limit: about(
    Type.Integer({ minimum: 1, default: 50 }),
    "Maximum rows of the page. Values above 1,000 count as 1,000. A page may have fewer rows: go by has_more.",
    100,
  ),
  cursor: omittable(
    Type.String({ maxLength: 500 }),
    "The cursor of an earlier page: the rows after it. Without one, or if it is empty, the first.",
  ),
  state: omittable(
    State,
    "Only candidates in this state. Such a list is a view, not a mirror: it does not show what has left the state.",
    "action_required",
  ),
  external_id: omittable(ExternalId, "Only the candidate with this external_id.", "ats-4711"),
  q: omittable(
    Type.String({ minLength: 1, maxLength: 100 }),
    "Search: only candidates of which a word in name, first_name, last_name, email or external_id begins with each word of q. A word is a run of letters and digits, of which the first 16 characters count. Case and accents are ignored. At most 50 rows, the newest candidate first, in one page: has_more is false, and cursor is empty. Not with cursor, state, external_id or updated_since.",
    "ada lov",
  ),
  updated_since: omittable(
    Timestamp,
    "Only candidates that changed at this time or later, and those of the few seconds before it: rows may be repeated, so merge by id.",
    "2026-08-17T09:30:00.000Z",
  ),
});
export type ListQuery = Static<typeof ListQuery>;
