import Type, { type Static } from "typebox";
import { Document, NewDocumentOrName } from "./document-schema.ts";
import {
  CalendarDate,
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
import { NewReference, Reference } from "./reference-schema.ts";

export const MAX_DOCUMENTS = 200;
export const MAX_REFERENCES = 50;
export const DEFAULT_CHASE_ATTEMPTS = 3;

export const CANDIDATE_STATES = ["created", "in_progress", "action_required", "completed", "withdrawn"] as const;
export type CandidateState = (typeof CANDIDATE_STATES)[number];

export const ChaseAttempts = Type.Integer({ minimum: 0, maximum: 100 });

/** NUL is not allowed: some stores end a string there, and would treat two ids that differ only after it as equal. */
const ExternalId = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: "^[^\\u0000]*$",
  description: "a string of 1 to 200 characters without NUL (U+0000)",
});

/** Fields that a client can send both in a new candidate and in a PATCH. */
export const candidateFields = {
  external_id: Type.Optional(nullable(ExternalId)),
  name: Type.Optional(nullable(freeText(200))),
  first_name: Type.Optional(nullable(freeText(200))),
  last_name: Type.Optional(nullable(freeText(200))),
  email: Type.Optional(nullable(Email)),
  phone: Type.Optional(nullable(Phone)),
  job_title: Type.Optional(nullable(freeText(200))),
  start_date: Type.Optional(nullable(CalendarDate)),
  metadata: Type.Optional(nullable(NewMetadata)),
  references_required: Type.Optional(nullable(Type.Integer({ minimum: 0, maximum: 50 }))),
};

const READ_ONLY = readOnly(
  "object",
  "id",
  "state_reason",
  "waiting_on",
  "version",
  "pack_version",
  "created_at",
  "updated_at",
);

export const NewCandidate = titled(
  "NewCandidate",
  strict(
    {
      ...candidateFields,
      docs_chase_attempts: Type.Optional(nullable(ChaseAttempts)),
      reference_chase_attempts: Type.Optional(nullable(ChaseAttempts)),
      documents: Type.Optional(nullable(Type.Array(NewDocumentOrName, { maxItems: MAX_DOCUMENTS }))),
      references: Type.Optional(nullable(Type.Array(NewReference, { maxItems: MAX_REFERENCES }))),
    },
    {
      ...READ_ONLY,
      id: "the service assigns it; send your own id as external_id",
      state: "it is derived from documents and references",
      reference_requirements: "it is derived; set references_required instead",
      withdrawn: "withdraw a candidate with PATCH /candidates/{id}",
      withdrawal_reason: "withdraw a candidate with PATCH /candidates/{id}",
      started_at: "start the candidate with POST /candidates/{id}/start",
    },
  ),
);
export type NewCandidate = Static<typeof NewCandidate>;

/** JSON Merge Patch (RFC 7396): null clears a field, an absent field stays as it is. */
export const CandidatePatch = titled(
  "CandidatePatch",
  strict(
    {
      ...candidateFields,
      metadata: Type.Optional(nullable(MetadataPatch)),
      withdrawn: Type.Optional(Type.Boolean()),
      withdrawal_reason: Type.Optional(nullable(freeText(1000))),
    },
    {
      ...READ_ONLY,
      docs_chase_attempts: "change it with PATCH /candidates/{id}/outreach",
      reference_chase_attempts: "change it with PATCH /candidates/{id}/outreach",
      documents:
        "add one with POST /candidates/{id}/documents, change one with PATCH /candidates/{id}/documents/{docId}",
      references: "add one with POST /candidates/{id}/references, change one with PATCH /references/{id}",
      state: "it is derived from documents and references",
      reference_requirements: "it is derived; set references_required instead",
      started_at: "start the candidate with POST /candidates/{id}/start",
    },
  ),
);
export type CandidatePatch = Static<typeof CandidatePatch>;

/** JSON Merge Patch (RFC 7396): null restores the default, an absent field stays as it is. */
export const OutreachPatch = titled(
  "OutreachPatch",
  strict({
    docs_chase_attempts: Type.Optional(nullable(ChaseAttempts)),
    reference_chase_attempts: Type.Optional(nullable(ChaseAttempts)),
  }),
);
export type OutreachPatch = Static<typeof OutreachPatch>;

const WaitingOn = strict({ code: Type.String(), subject: Type.String(), message: Type.String() });
export type WaitingOn = Static<typeof WaitingOn>;

const ReferenceRequirements = strict({
  required: Type.Integer({ minimum: 0 }),
  received: Type.Integer({ minimum: 0 }),
  outstanding: Type.Integer({ minimum: 0 }),
});
export type ReferenceRequirements = Static<typeof ReferenceRequirements>;

export const Candidate = titled(
  "Candidate",
  strict({
    object: oneOf(["candidate"]),
    id: Type.String(),
    external_id: nullable(Type.String()),
    name: nullable(Type.String()),
    first_name: nullable(Type.String()),
    last_name: nullable(Type.String()),
    email: nullable(Type.String()),
    phone: nullable(Type.String()),
    job_title: nullable(Type.String()),
    start_date: nullable(CalendarDate),
    metadata: Metadata,
    docs_chase_attempts: ChaseAttempts,
    reference_chase_attempts: ChaseAttempts,
    references_required: nullable(Type.Integer()),
    reference_requirements: ReferenceRequirements,
    state: oneOf(CANDIDATE_STATES),
    state_reason: nullable(Type.String()),
    waiting_on: Type.Array(WaitingOn),
    withdrawn: Type.Boolean(),
    withdrawal_reason: nullable(Type.String()),
    documents: Type.Array(Document),
    references: Type.Array(Reference),
    version: Type.Integer({ minimum: 1 }),
    pack_version: Type.Integer({ minimum: 1 }),
    created_at: Timestamp,
    updated_at: Timestamp,
    started_at: nullable(Timestamp),
  }),
);
export type Candidate = Static<typeof Candidate>;

/** The answer to a dry run: the candidate as it would be created. The ids are examples. */
export const DryRun = titled(
  "DryRun",
  strict({ object: oneOf(["dry_run"]), valid: Type.Literal(true), would_create: Candidate }),
);
export type DryRun = Static<typeof DryRun>;

export const CreateQuery = strict({
  dry_run: Type.Optional(
    Type.Boolean({
      description:
        "true returns what would be created and stores nothing; counts against the limit of reads, not of create",
    }),
  ),
});

export const CandidatePath = strict({ id: Type.String() });

export const ListQuery = strict({
  limit: Type.Integer({ minimum: 1, default: 50, description: "maximum rows per page; values above 200 count as 200" }),
  cursor: Type.Optional(Type.String({ maxLength: 500 })),
  state: Type.Optional(oneOf(CANDIDATE_STATES)),
  external_id: Type.Optional(ExternalId),
  updated_since: Type.Optional({
    ...Timestamp,
    description:
      "candidates that changed at this time or later, and those of the few seconds before it: rows may be repeated, so merge by id",
  }),
});
export type ListQuery = Static<typeof ListQuery>;

/** What the feed shows of a candidate that was deleted. */
export const DeletedCandidate = titled(
  "DeletedCandidate",
  strict({
    object: oneOf(["candidate"]),
    id: Type.String(),
    deleted: Type.Literal(true, { description: "the candidate is erased: remove it from your mirror" }),
    version: Type.Integer({ minimum: 1 }),
    updated_at: Timestamp,
  }),
);
export type DeletedCandidate = Static<typeof DeletedCandidate>;

export const CandidateList = titled(
  "CandidateList",
  strict({
    object: oneOf(["list"]),
    data: Type.Array(Type.Union([Candidate, DeletedCandidate])),
    has_more: Type.Boolean(),
    cursor: Type.String(),
  }),
);
export type CandidateList = Static<typeof CandidateList>;
