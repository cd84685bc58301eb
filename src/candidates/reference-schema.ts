import Type, { type Static } from "typebox";
import { Chase } from "./document-schema.ts";
import {
  Email,
  freeText,
  Metadata,
  MetadataPatch,
  NewMetadata,
  nullable,
  oneOf,
  Phone,
  readOnly,
  strict,
  Timestamp,
  titled,
} from "../schema/fields.ts";

export const REFERENCE_STATES = [
  "not_requested",
  "requested",
  "received",
  "declined",
  "bounced",
  "unresponsive",
  "waived",
  "cancelled",
] as const;
export type ReferenceState = (typeof REFERENCE_STATES)[number];

/** The fields that creation and PATCH have in common. */
const referenceFields = {
  name: Type.Optional(nullable(freeText(200))),
  email: Type.Optional(nullable(Email)),
  phone: Type.Optional(nullable(Phone)),
  company: Type.Optional(nullable(freeText(200))),
  job_title: Type.Optional(nullable(freeText(200))),
  relationship: Type.Optional(nullable(freeText(200))),
};

/** What the referee said: any JSON object of up to 16 KiB and 1,000 members and items. */
const Response = Type.Optional(Type.Unsafe<Record<string, unknown> | null>({ type: ["object", "null"] }));

const READ_ONLY = readOnly(
  "object",
  "id",
  "candidate_id",
  "chase",
  "requested_at",
  "received_at",
  "created_at",
  "updated_at",
);

/** A reference as a client sends it: in POST references, or inside a new candidate. */
export const NewReference = titled(
  "NewReference",
  strict(
    {
      ...referenceFields,
      metadata: Type.Optional(nullable(NewMetadata)),
      state: Type.Optional(nullable(oneOf(REFERENCE_STATES))),
      response: Response,
    },
    READ_ONLY,
  ),
);
export type NewReference = Static<typeof NewReference>;

export const ReferencePath = strict({ id: Type.String() });

/** JSON Merge Patch (RFC 7396) of a reference. `state` moves it to another state. */
export const ReferencePatch = titled(
  "ReferencePatch",
  strict(
    {
      ...referenceFields,
      metadata: Type.Optional(nullable(MetadataPatch)),
      state: Type.Optional(oneOf(REFERENCE_STATES)),
      response: Response,
    },
    READ_ONLY,
  ),
);
export type ReferencePatch = Static<typeof ReferencePatch>;

export const Reference = titled(
  "Reference",
  strict({
    object: oneOf(["reference"]),
    id: Type.String(),
    candidate_id: Type.String(),
    name: nullable(Type.String()),
    email: nullable(Type.String()),
    phone: nullable(Type.String()),
    company: nullable(Type.String()),
    job_title: nullable(Type.String()),
    relationship: nullable(Type.String()),
    state: oneOf(REFERENCE_STATES),
    response: nullable(Type.Unsafe<Record<string, unknown>>({ type: "object" })),
    metadata: Metadata,
    chase: Chase,
    requested_at: nullable(Timestamp),
    received_at: nullable(Timestamp),
    created_at: Timestamp,
    updated_at: Timestamp,
  }),
);
export type Reference = Static<typeof Reference>;
