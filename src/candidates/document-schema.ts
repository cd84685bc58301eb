import Type, { type Static } from "typebox";
import { about, component, nullable, omittable, oneOf, optional, readOnly, strict, titled } from "../schema/fields.ts";
import { CANDIDATE_ID, DOCUMENT_ID } from "../schema/example-ids.ts";
import {
  CalendarDate,
  Count,
  freeText,
  Metadata,
  MetadataInput,
  MetadataPatch,
  TimeOrNull,
  Timestamp,
} from "../schema/values.ts";
import { Decided, DECIDED } from "./history-schema.ts";
import { MESSAGE_LANGUAGES } from "../schema/languages.ts";
import { MediaType } from "../schema/media-type.ts";
import { words } from "../schema/words.ts";

export const DOCUMENT_STATES = words("pending requested received accepted rejected expired waived cancelled");
export type DocumentState = (typeof DOCUMENT_STATES)[number];

/** Without a name: Go's generator makes constants of the words, and those of two named enums would collide. */
const State = oneOf(DOCUMENT_STATES);

export const OUTREACH_REASONS = words(
  "withdrawn not_started nothing_outstanding disabled quiet_hours no_email opted_out bounced cap_reached mail_limit restored",
);
export type OutreachReason = (typeof OUTREACH_REASONS)[number];

const CHASE_TEXT = {
  next_at: ["When the next reminder goes out. Null if none will. The pack leaves it out.", "2026-08-21T09:31:00.000Z"],
  reason: [
    "Why this person gets no reminder, or why the reminder waits. The words are those of the candidate's outreach.reason. Null if nothing holds the reminder up, or if nothing is asked of this person. The pack leaves it out.",
    null,
  ],
} as const;

export const Chase = component("Chase", "The reminders sent so far, and the next one.", {
  attempts: about(Count, "How many reminders were sent.", 0),
  last_at: about(TimeOrNull, "When the last reminder was sent. Null if none was sent.", null),
  next_at: omittable(TimeOrNull, ...CHASE_TEXT.next_at),
  reason: optional(oneOf(OUTREACH_REASONS), ...CHASE_TEXT.reason),
});
export type Chase = Static<typeof Chase>;
/** The reminders sent so far, as a record has them. */
export type ChaseRecord = Pick<Static<typeof Chase>, "attempts" | "last_at">;

export const ChaseInput = component(
  "ChaseInput",
  "The reminders that another system has sent so far.",
  {
    attempts: about(
      Type.Integer({ minimum: 0, maximum: 1000 }),
      "How many, 0 to 1,000. They count towards the cap.",
      2,
    ),
    last_at: optional(
      Timestamp,
      "When the last one was sent, not in the future. The next one keeps the interval after it. Default: null, not known.",
      "2026-08-15T08:00:00.000Z",
    ),
  },
  readOnly("next_at", "reason"),
);
export type ChaseInput = Static<typeof ChaseInput>;

/** Completes what the field `language` means. */
export const LANGUAGES = `${MESSAGE_LANGUAGES.join(", ")}, with or without a region (de-CH). Null: the assistant's language.`;
export const Language = Type.String({
  maxLength: 100,
  pattern: `^(${MESSAGE_LANGUAGES.map((tag) => tag.replaceAll(/./g, (each) => `[${each}${each.toUpperCase()}]`)).join("|")})(-[A-Za-z0-9]{1,8})*$`,
  "x-must-be": `a language that messages have: ${MESSAGE_LANGUAGES.join(", ")}, with or without a region (de-CH)`,
});

/** Maximum length of a document's name, and of its filename, in characters (code points). */
export const MAX_NAME = 500;

/** What the fields mean, and an example. Requests and responses have the same words. */
const TEXT = {
  name: ["What the document is, in the client's words: 1 to 500 characters. Names may repeat.", "Passport"],
  state: [
    "How far the document has come. pending: not asked for yet. requested: the candidate is started. received: to be reviewed. accepted, rejected: reviewed. expired: the day after expires_on of an accepted document. waived, cancelled: no longer needed.",
    "received",
  ],
  required: ["Whether completion waits for the document. False: it is asked for, but may be missing.", true],
  expires_on: ["The last day on which the document is valid. Null: it does not expire.", "2031-06-30"],
  rejection_reason: ["Why the document was rejected. Any other state clears it.", "The photo is not readable"],
} as const;

export const CHASED = "The reminders that another system has sent so far. Default: none.";

/** The fields that a client can send both with a new document and in a PATCH. */
const documentFields = {
  name: about(freeText(MAX_NAME, 1), ...TEXT.name),
  required: optional(Type.Boolean(), `${TEXT.required[0]} Default: true.`, true),
  expires_on: optional(CalendarDate, ...TEXT.expires_on),
  metadata: optional(MetadataInput, "The client's own labels."),
  state: omittable(State, "Moves the document to this state.", "accepted"),
  rejection_reason: optional(freeText(1000), ...TEXT.rejection_reason),
};

const ContentInput = component(
  "ContentInput",
  "The bytes of a small file. The whole JSON body may have 1 MiB; upload larger files with PUT or as a form.",
  {
    filename: optional(freeText(MAX_NAME, 1), "The name of the file.", "passport.pdf"),
    content_type: optional(MediaType, "The media type. Default: application/octet-stream.", "application/pdf"),
    data: about(
      Type.String({ contentEncoding: "base64", format: "base64" }),
      "The bytes, as base64 with padding (RFC 4648, section 4). At least one byte.",
      "JVBERi0xLjcK",
    ),
  },
);
export type ContentInput = Static<typeof ContentInput>;

export const READ_ONLY = readOnly("object", "id", "candidate_id", "chase", "decided", "created_at", "updated_at");

/** On the PATCH of a document or reference. */
export const DecidedBy = optional(
  freeText(200),
  "Who decided on your side, up to 200 characters, for example the name of a recruiter. Send it with a state that decides: any but pending, requested and not_requested. decided shows it.",
  "Noor Haddad",
);

export const DocumentInput = component(
  "DocumentInput",
  "A document to add.",
  {
    ...documentFields,
    state: optional(
      State,
      "The state to begin in. Default: received with content, else requested if the candidate is started, else pending.",
      "accepted",
    ),
    content: optional(ContentInput, "The file, if it is small."),
    chase: optional(ChaseInput, CHASED),
  },
  { ...READ_ONLY, decided_by: "send it with PATCH /candidates/{id}/documents/{docId}" },
);
export type DocumentInput = Static<typeof DocumentInput>;

/** DocumentInput as a form. Only the contract uses this: the form's fields are validated with DocumentInput. */
export const DocumentForm = component(
  "DocumentForm",
  "A document to add, with its file as the part content. A field that is not text is sent as JSON.",
  {
    name: documentFields.name,
    required: omittable(Type.Boolean(), `${TEXT.required[0]} Default: true.`, true),
    expires_on: omittable(CalendarDate, ...TEXT.expires_on),
    metadata: omittable(MetadataInput, "The client's own labels."),
    state: omittable(State, "The state to begin in. Default: received.", "accepted"),
    rejection_reason: omittable(freeText(1000), ...TEXT.rejection_reason),
    chase: omittable(ChaseInput, CHASED),
    content: about(
      Type.String({ format: "binary" }),
      "The file: its bytes, at most 25 MiB, with a Content-Type and a filename of its own.",
    ),
  },
);

export const DocumentPatch = component(
  "DocumentPatch",
  "Changes of a document (JSON Merge Patch, RFC 7396): null clears a field, and a field that is left out stays as it is.",
  {
    ...documentFields,
    name: Type.Optional(documentFields.name),
    metadata: optional(MetadataPatch, "Changes of the client's own labels. Null removes all."),
    decided_by: DecidedBy,
  },
  { ...READ_ONLY, content: "upload it with PUT /candidates/{id}/documents/{docId}/content" },
);
export type DocumentPatch = Static<typeof DocumentPatch>;

const NAMED = "The id of the candidate, or external: and its external_id, percent-encoded.";
export const CandidateName = about(Type.String(), NAMED, CANDIDATE_ID);

export const DocumentPath = strict({
  id: CandidateName,
  docId: about(Type.String(), "The id of the document.", DOCUMENT_ID),
});

export const DocumentOrName = titled(
  "DocumentOrName",
  "A document, or only its name.",
  Type.Unsafe<DocumentInput | string>({
    if: { type: "string" },
    // oxlint-disable-next-line unicorn/no-thenable -- `then` is a keyword of JSON Schema
    then: { type: "string", minLength: 1, maxLength: MAX_NAME },
    else: DocumentInput,
  }),
);

const SHA256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

const DocumentContent = component("DocumentContent", "The file of a document, without its bytes.", {
  filename: about(nullable(Type.String()), "The name of the file, if it was sent with one.", "passport.pdf"),
  content_type: about(Type.String(), "The media type, as it was sent.", "application/pdf"),
  size: about(Count, "The size in bytes.", 184213),
  sha256: about(Type.String(), "The SHA-256 of the bytes, in hexadecimal.", SHA256),
  etag: about(Type.String(), "The ETag of the content, with its quotes. Equal bytes have equal tags.", `"${SHA256}"`),
  uploaded_at: about(Timestamp, "When the bytes arrived.", "2026-08-17T09:32:11.480Z"),
});

export const Document = component("Document", "A document that a candidate brings.", {
  object: about(oneOf(["document"]), "The type of the object.", "document"),
  id: about(Type.String(), "The id of the document.", DOCUMENT_ID),
  candidate_id: about(Type.String(), "The id of its candidate.", CANDIDATE_ID),
  name: about(Type.String(), ...TEXT.name),
  state: about(State, ...TEXT.state),
  required: about(Type.Boolean(), ...TEXT.required),
  rejection_reason: about(nullable(Type.String()), ...TEXT.rejection_reason),
  expires_on: about(nullable(CalendarDate), ...TEXT.expires_on),
  metadata: about(Metadata, "The client's own labels."),
  content: about(nullable(DocumentContent), "The file. Null: the service holds none."),
  chase: about(Chase, "The reminders sent so far for the document, and the next one."),
  decided: about(nullable(Decided), DECIDED),
  created_at: about(Timestamp, "When the document was added.", "2026-08-17T09:30:00.000Z"),
  updated_at: about(Timestamp, "When the document was last changed.", "2026-08-17T09:32:11.480Z"),
});
export type Document = Static<typeof Document>;
