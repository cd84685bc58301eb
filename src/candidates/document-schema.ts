import Type, { type Static } from "typebox";
import { MediaType } from "../schema/media-type.ts";
import {
  CalendarDate,
  freeText,
  Metadata,
  MetadataPatch,
  NewMetadata,
  nullable,
  oneOf,
  readOnly,
  strict,
  Timestamp,
  titled,
} from "../schema/fields.ts";

export const DOCUMENT_STATES = [
  "pending",
  "requested",
  "received",
  "accepted",
  "rejected",
  "expired",
  "waived",
  "cancelled",
] as const;
export type DocumentState = (typeof DOCUMENT_STATES)[number];

/** The reminders sent so far for a document or a reference. */
export const Chase = strict({ attempts: Type.Integer({ minimum: 0 }), last_at: nullable(Timestamp) });

/** Maximum length of a document's name, and of its filename, in characters (code points). */
export const MAX_NAME = 500;

const NewContent = strict({
  filename: Type.Optional(nullable(freeText(MAX_NAME, 1))),
  content_type: Type.Optional(nullable(MediaType)),
  data: Type.String({ contentEncoding: "base64", format: "base64" }),
});
export type NewContent = Static<typeof NewContent>;

const READ_ONLY = readOnly("object", "id", "candidate_id", "chase", "created_at", "updated_at");

/** A document as a client sends it: in POST documents, or inside a new candidate. */
export const NewDocument = titled(
  "NewDocument",
  strict(
    {
      name: freeText(MAX_NAME, 1),
      required: Type.Optional(nullable(Type.Boolean())),
      expires_on: Type.Optional(nullable(CalendarDate)),
      metadata: Type.Optional(nullable(NewMetadata)),
      state: Type.Optional(nullable(oneOf(DOCUMENT_STATES))),
      rejection_reason: Type.Optional(nullable(freeText(1000))),
      content: Type.Optional(nullable(NewContent)),
    },
    READ_ONLY,
  ),
);
export type NewDocument = Static<typeof NewDocument>;

/** JSON Merge Patch (RFC 7396) of a document. `state` moves it to another state. */
export const DocumentPatch = titled(
  "DocumentPatch",
  strict(
    {
      name: Type.Optional(freeText(MAX_NAME, 1)),
      required: Type.Optional(nullable(Type.Boolean())),
      expires_on: Type.Optional(nullable(CalendarDate)),
      metadata: Type.Optional(nullable(MetadataPatch)),
      state: Type.Optional(oneOf(DOCUMENT_STATES)),
      rejection_reason: Type.Optional(nullable(freeText(1000))),
    },
    { ...READ_ONLY, content: "upload it with PUT /candidates/{id}/documents/{docId}/content" },
  ),
);
export type DocumentPatch = Static<typeof DocumentPatch>;

export const DocumentPath = strict({ id: Type.String(), docId: Type.String() });

/** A document inside a new candidate. A plain string is its name. */
export const NewDocumentOrName = Type.Unsafe<NewDocument | string>({
  if: { type: "string" },
  // oxlint-disable-next-line unicorn/no-thenable -- `then` is a keyword of JSON Schema
  then: { type: "string", minLength: 1, maxLength: MAX_NAME },
  else: NewDocument,
});

const ContentInfo = strict({
  filename: nullable(Type.String()),
  content_type: Type.String(),
  size: Type.Integer({ minimum: 0, description: "in bytes" }),
  sha256: Type.String({ description: "hexadecimal" }),
  etag: Type.String({ description: "the ETag of the content" }),
  uploaded_at: Timestamp,
});

export const Document = titled(
  "Document",
  strict({
    object: oneOf(["document"]),
    id: Type.String(),
    candidate_id: Type.String(),
    name: Type.String(),
    state: oneOf(DOCUMENT_STATES),
    required: Type.Boolean(),
    rejection_reason: nullable(Type.String()),
    expires_on: nullable(CalendarDate),
    metadata: Metadata,
    content: nullable(ContentInfo),
    chase: Chase,
    created_at: Timestamp,
    updated_at: Timestamp,
  }),
);
export type Document = Static<typeof Document>;
