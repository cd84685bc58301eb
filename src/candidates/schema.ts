import Type, { type Static } from "typebox";
import { Document, NewDocumentOrName } from "./document-schema.ts";
import {
  CalendarDate,
  Email,
  freeText,
  Metadata,
  MetadataPatch,
  nullable,
  oneOf,
  Phone,
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

/** Without NUL, which ends a string in some stores: two ids that differ only after it would be one there. */
const ExternalId = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: "^[^\\u0000]*$",
  description: "a text of 1 to 200 characters without NUL (U+0000)",
});

/** What creation and PATCH both take. */
export const candidateFields = {
  external_id: Type.Optional(nullable(ExternalId)),
  name: Type.Optional(nullable(freeText(200))),
  first_name: Type.Optional(nullable(freeText(200))),
  last_name: Type.Optional(nullable(freeText(200))),
  email: Type.Optional(nullable(Email)),
  phone: Type.Optional(nullable(Phone)),
  job_title: Type.Optional(nullable(freeText(200))),
  start_date: Type.Optional(nullable(CalendarDate)),
  metadata: Type.Optional(nullable(Metadata)),
  references_required: Type.Optional(nullable(Type.Integer({ minimum: 0, maximum: 50 }))),
};

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
      id: "the service gives it; your own id goes in external_id",
      state: "it is derived from documents and references",
      reference_requirements: "it is derived; references_required sets what is required",
      withdrawn: "PATCH /candidates/{id} withdraws",
      withdrawal_reason: "PATCH /candidates/{id} withdraws",
    },
  ),
);
export type NewCandidate = Static<typeof NewCandidate>;

/** JSON Merge Patch (RFC 7396): null clears, absent leaves. */
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
      docs_chase_attempts: "PATCH /candidates/{id}/outreach changes it",
      reference_chase_attempts: "PATCH /candidates/{id}/outreach changes it",
      documents: "POST /candidates/{id}/documents adds one, PATCH /candidates/{id}/documents/{docId} changes one",
      references: "POST /candidates/{id}/references adds one, PATCH /references/{id} changes one",
      state: "it is derived from documents and references",
      started_at: "POST /candidates/{id}/start starts the candidate",
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

/** What creation would answer: the candidate as it would be, with ids that stand for those it would get. */
export const DryRun = titled(
  "DryRun",
  strict({ object: oneOf(["dry_run"]), valid: Type.Literal(true), would_create: Candidate }),
);
export type DryRun = Static<typeof DryRun>;

export const CreateQuery = strict({
  dry_run: Type.Optional(
    Type.Boolean({ description: "true only says what would happen: it is charged, and nothing is kept" }),
  ),
});

export const CandidatePath = strict({ id: Type.String() });

export const ListQuery = strict({
  limit: Type.Integer({ minimum: 1, default: 50, description: "rows a page; more than 200 are taken as 200" }),
  cursor: Type.Optional(Type.String({ maxLength: 500 })),
  state: Type.Optional(oneOf(CANDIDATE_STATES)),
  external_id: Type.Optional(ExternalId),
  updated_since: Type.Optional(Timestamp),
});
export type ListQuery = Static<typeof ListQuery>;

export const CandidateList = titled(
  "CandidateList",
  strict({
    object: oneOf(["list"]),
    data: Type.Array(Candidate),
    has_more: Type.Boolean(),
    cursor: Type.String(),
  }),
);
export type CandidateList = Static<typeof CandidateList>;
