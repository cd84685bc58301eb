import type { ChaseRecord, Document, OutreachReason } from "./document-schema.ts";
import type { By, Decided } from "./history-schema.ts";
import type { Reference } from "./reference-schema.ts";
import type { Candidate } from "./schema.ts";

export interface CandidateKey {
  readonly accountId: string;
  readonly id: string;
}

/** Whose candidate is changed, and who changes it. */
export interface Author {
  readonly accountId: string;
  readonly by: By;
}

/** A part of the service that changes candidates by itself. @param id the name of its sweep. */
export function service(accountId: string, id: string): Author {
  return { accountId, by: { type: "service", id } };
}

/** Members that follow from the record (states.ts). So does `state`, of which the record has a copy. */
export type Derived = "state_reason" | "waiting_on" | "reference_requirements";

/**
 * A candidate, with the records of its documents and references inside: what the API shows of it, without what is derived,
 * and what only the service knows. `state` is a copy of the derived state, for the index alone. `version` counts the writes:
 * every write is a compare-and-set on it.
 */
export interface CandidateRecord extends Readonly<
  Omit<Candidate, "object" | "documents" | "references" | "outreach" | "erases_at" | Derived>
> {
  readonly accountId: string;
  readonly documents: readonly DocumentRecord[];
  readonly references: readonly ReferenceRecord[];
  /** Documents and references deleted in the last 25 hours, so that a late retry of their POST does not add them again. */
  readonly removed: readonly Pick<Deletion, "id" | "at">[];
  /** What is still to be removed of deleted documents and references. Null if nothing is. */
  readonly erasure: Erasure | null;
  readonly outreach: OutreachRecord;
  /** Who decided, by the id of the document or reference. Counts only while that has this state. */
  readonly decisions: Readonly<Record<string, Decision>>;
  readonly history: HistoryRecord;
  /** When it is erased without a request (retention.ts). Absent in records of earlier versions. */
  readonly retention?: RetentionRecord;
  /** Only in an edit: the decision of a part for which the client says who decided. */
  readonly stated?: { readonly id: string; readonly decided_by: string | null };
}

export type Decision = Readonly<Decided>;

/** Timestamps are RFC 3339. */
export interface RetentionRecord {
  /** The version of the candidate that noted this. */
  readonly version: number;
  /** When the candidate came into its state. */
  readonly since: string;
  /** When somebody last changed it: not the service by itself. */
  readonly active_at: string;
  /** In an index, for the sweep. Null if it is never erased without a request. */
  readonly erases_at: string | null;
}

/** What changed (history.ts). Its oldest entries may have moved to a collection of their own (history-store.ts). */
export interface HistoryRecord {
  /** Number of entries that have moved there. */
  readonly moved: number;
  /** Number of all entries. */
  readonly count: number;
  /** The others, the oldest first: a line of JSON each. */
  readonly lines: string;
}

/** The reminders of a candidate, as the last write planned them. Timestamps are RFC 3339. */
export interface OutreachRecord {
  /** Time of the next message. Null if none will go out. */
  readonly next_at: string | null;
  /** The reason why none will, or why it waits. Null if nothing holds it up. */
  readonly reason: OutreachReason | null;
  /** When the sender has something to do: the index of due candidates. Null if never. */
  readonly look_at: string | null;
  /** The version of the rules that the plan was made with. Null if mail was not configured. */
  readonly rules: string | null;
  /** The next message to each recipient who is still to answer. Absent before the first plan. */
  readonly chases?: readonly {
    readonly to: string;
    readonly next_at: string | null;
    readonly reason: OutreachReason | null;
  }[];
  /** When a client last asked for a reminder at once. Absent if none did. */
  readonly reminded_at?: string;
  /** When outreach_enabled last became true again. Nothing is due for the time before. Absent if it never was false. */
  readonly resumed_at?: string;
  /** The recipients of earlier messages. */
  readonly recipients: readonly RecipientRecord[];
  /** Those addresses of the candidate and its references that have opted out (OptOutStore), as `comparable`. */
  readonly opted_out: readonly string[];
}

export interface RecipientRecord {
  /** TO_CANDIDATE, or the id of a reference. */
  readonly to: string;
  /** The last attempt. Null if none was made. */
  readonly last: AttemptRecord | null;
  /** The candidate's address, if mail to it bounced. A reference has a state for that. */
  readonly bounced: string | null;
  /** What keeps its next message until another day. Absent or null if nothing does. */
  readonly held?: Hold | null;
  /** What changed for the recipient since the last attempt. Absent or null if nothing did. */
  readonly changed?: ChangeRecord | null;
  /** When a client asked for a reminder at once. Absent or null if none did since the last attempt. */
  readonly remind_at?: string | null;
}

/** Why somebody hears before the interval is over (changes.ts). */
export interface ChangeRecord {
  /** When the first of the changes was made. RFC 3339. */
  readonly at: string;
  /** The ids of the documents that are asked for now, or again. */
  readonly documents: readonly string[];
  /** True if the recipient can be reached again, or is asked again. */
  readonly person: boolean;
}

/** A budget of messages that was used up. */
export interface Hold {
  /** The beginning of the next UTC day, RFC 3339. */
  readonly until: string;
  /** The budget's size, as ReminderRules.budget has it. With another size the hold is over. Null if all accounts share it. */
  readonly budget: string | null;
}

/** One message. It is recorded before it is sent. */
export interface AttemptRecord {
  /** The Message-ID, without its angle brackets. */
  readonly message_id: string;
  /** When it was last given to the mail server, or was about to be. */
  readonly at: string;
  /** The ids of the documents that it lists. */
  readonly documents: readonly string[];
  /** Those of them that it is about because they changed. Absent if none is. */
  readonly changed?: readonly string[];
  /** Number of times that it was given to the mail server, at least 1. */
  readonly tries: number;
  /** The address that it was sent to, as a hash (AddressHash). */
  readonly address: string;
  /** Number of times that the mail server refused this address for the moment. */
  readonly refusals: number;
  /** When it is tried again, because the mail server refused it for the moment. Null if it is not. */
  readonly retry_at: string | null;
}

/** The rest of an erasure: what lies outside the candidate's record. Identifiers only. */
export interface Erasure {
  /** When the last deletion was made. RFC 3339. */
  readonly at: string;
  /** What was deleted, for the audit trail. */
  readonly deletions: readonly Deletion[];
  readonly files: readonly string[];
  readonly references: readonly string[];
}

/** Who deleted something: the id of an API key. `at` is RFC 3339. */
export interface Deleter {
  readonly key: string;
  readonly at: string;
}

/** A deletion that a client asked for. */
export interface Deletion extends Deleter {
  readonly kind: "candidates" | "documents" | "references";
  readonly id: string;
}

/** A candidate without the fields that the store sets itself when it writes. */
export type Draft = Omit<
  CandidateRecord,
  "version" | "state" | "outreach" | "created_at" | "updated_at" | "decisions" | "history" | "retention"
>;

/** Describes a document's content. The bytes are in GridFS under `file_id`. */
export interface ContentRecord extends Readonly<Omit<NonNullable<Document["content"]>, "etag">> {
  readonly file_id: string;
}

export interface DocumentRecord extends Readonly<
  Omit<Document, "object" | "candidate_id" | "content" | "chase" | "decided">
> {
  readonly content: ContentRecord | null;
  readonly chase: ChaseRecord;
}

export interface ReferenceRecord extends Readonly<Omit<Reference, "object" | "candidate_id" | "chase" | "decided">> {
  readonly chase: ChaseRecord;
}

/** Names the candidate among the recipients of messages. Each other recipient is named by its reference's id. */
export const TO_CANDIDATE = "candidate";

/** The fields of a candidate about which nothing is known. */
export const NO_FIELDS = {
  pack_version: 1,
  external_id: null,
  name: null,
  first_name: null,
  last_name: null,
  email: null,
  language: null,
  phone: null,
  job_title: null,
  start_date: null,
  references_required: null,
  outreach_enabled: true,
  withdrawn: false,
  withdrawal_reason: null,
  hold: null,
  started_at: null,
} as const;

/** The caps of reminders that a client does not set. */
export const DEFAULT_CHASE_ATTEMPTS = 3;

export const NEVER_CHASED: ChaseRecord = { attempts: 0, last_at: null };
