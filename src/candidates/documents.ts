import type { IncomingFile, StoredFile } from "../content/file.ts";
import { epochOf, timestamp } from "../infra/clock.ts";
import { invalid, problem } from "../problems.ts";
import { mergedMetadata } from "../schema/merge-patch.ts";
import {
  type Chase,
  type ChaseInput,
  type ContentInput,
  DOCUMENT_STATES,
  type DocumentInput,
  type DocumentPatch,
  type DocumentState,
} from "./document-schema.ts";
import { DOCUMENT_MOVES, documentContradiction, refuseContradiction, type Situation } from "./moves.ts";
import { type CandidateRecord, type ContentRecord, type DocumentRecord, NEVER_CHASED } from "./record.ts";

/** Pure edits of a candidate's documents. CandidateStore.change runs them. */

/** @throws problem not_found */
export function documentOf({ documents }: CandidateRecord, id: string): DocumentRecord {
  const document = documents.find((each) => each.id === id);
  if (document === undefined)
    throw problem("not_found", `The candidate has no document ${JSON.stringify(id.slice(0, 100))}. Check the id.`);
  return document;
}

/** @throws problems invalid_transition, validation_failed */
export function patchedDocument(before: DocumentRecord, patch: DocumentPatch, situation: Situation): DocumentRecord {
  const { state = before.state, metadata, required = before.required, rejection_reason, ...fields } = patch;
  const edited: DocumentRecord = {
    ...before,
    ...fields,
    state,
    required: required ?? true,
    rejection_reason: reasonAfter(before, state, rejection_reason),
    metadata: mergedMetadata(before.metadata, metadata),
  };
  // Not checked if only other fields change: expires_on may have passed since, and the sweep will expire the document.
  if (edited.state !== before.state || edited.expires_on !== before.expires_on)
    checkState(edited, { from: before.state, ...situation });
  return JSON.stringify(edited) === JSON.stringify(before) ? before : { ...edited, updated_at: situation.now };
}

function reasonAfter(before: DocumentRecord, state: DocumentState, given: string | null | undefined): string | null {
  if (state === "rejected") return given === undefined ? before.rejection_reason : given;
  checkReason(state, given, "");
  return null;
}

function checkReason(state: DocumentState, given: string | null | undefined, at: string): void {
  if (!given || state === "rejected") return;
  const must = 'must be sent with "state": "rejected"';
  const advice = 'Send it with "state": "rejected", or leave it out.';
  throw invalid(`${at}/rejection_reason`, must, `Only a rejected document can have a rejection_reason. ${advice}`);
}

function checkState(
  { state, expires_on }: Pick<DocumentRecord, "state" | "expires_on">,
  { from, at, ...situation }: Situation & { from: DocumentState | null; at?: string },
): void {
  const contradictionOf = (each: DocumentState) => documentContradiction(each, { expires_on, ...situation });
  refuseContradiction(state, DOCUMENT_STATES, contradictionOf, { from, at });
}

/** Moves the document to received with this content. Returns the same record if it is that already. */
export function withContent(before: DocumentRecord, content: ContentRecord, { started, now }: Situation) {
  checkTakesContent(before.state, started);
  if (before.state === "received" && isSame(before.content, content)) return before;
  return { ...before, state: DOCUMENT_MOVES.content.to, rejection_reason: null, content, updated_at: now };
}

/** @param advice what the client can do instead. @throws problem invalid_transition for a waived or cancelled document. */
export function checkTakesContent(
  state: DocumentState,
  started: boolean,
  advice = "Send another state with PATCH /candidates/{id}/documents/{docId} first",
): void {
  const { from } = DOCUMENT_MOVES.content;
  if (from.includes(state)) return;
  const situation = { started, expires_on: null, now: "" };
  const allowed = from.filter((each) => documentContradiction(each, situation) === undefined);
  const detail = `A ${state} document takes no content. ${advice}: ${allowed.join(", ")}.`;
  throw problem("invalid_transition", detail, { members: { from: state, to: "received", allowed } });
}

function isSame(one: ContentRecord | null, other: ContentRecord): boolean {
  return one?.sha256 === other.sha256 && one.filename === other.filename && one.content_type === other.content_type;
}

/**
 * Builds a document in the state that the client gives it. Without one, it is received if it has content, else requested
 * if the candidate is started, else pending.
 * @param facts `content`: what was sent with it, already stored. `at`: where it is in the body, a JSON Pointer.
 * @throws problems invalid_transition, validation_failed
 */
export function newDocument(
  given: DocumentInput,
  { id, content, ...facts }: Situation & { id: string; content: StoredFile | undefined; at?: string },
): DocumentRecord {
  checkNewDocument(given, { ...facts, file: content !== undefined });
  const { started, now } = facts;
  const state = given.state ?? (content !== undefined ? "received" : started ? "requested" : "pending");
  return {
    id,
    name: given.name,
    state,
    required: given.required ?? true,
    rejection_reason: given.rejection_reason ?? null,
    expires_on: given.expires_on ?? null,
    metadata: given.metadata ?? {},
    content: content === undefined ? null : newContent(content, now),
    chase: newChase(given.chase, facts),
    created_at: now,
    updated_at: now,
  };
}

/** Refuses a new document that contradicts itself, before its content is stored. @throws invalid_transition, validation_failed */
export function checkNewDocument(
  { state, expires_on = null, rejection_reason, content, chase }: DocumentInput,
  { now, started, at = "", file = false }: Situation & { at?: string; file?: boolean },
): void {
  newChase(chase, { now, at });
  if (state === undefined || state === null) return checkReason("pending", rejection_reason, at);
  checkReason(state, rejection_reason, at);
  checkState({ state, expires_on }, { from: null, started, now, at });
  if (file || content) checkTakesContent(state, started, "Leave out content, or send one of these states");
}

export function newContent({ id, filename, contentType, size, sha256 }: StoredFile, now: string): ContentRecord {
  return { file_id: id, filename, content_type: contentType, size, sha256, uploaded_at: now };
}

export function inlineFile({ filename, content_type, data }: ContentInput): IncomingFile {
  return { stream: [Buffer.from(data, "base64")], filename: filename ?? null, contentType: content_type ?? null };
}

/**
 * Returns the reminders that another system has sent, as a record has them. @throws problem validation_failed
 * @param where `now`: RFC 3339. `at`: where the document or reference is in the body, a JSON Pointer.
 */
export function newChase(given: ChaseInput | null | undefined, where: { now: string; at?: string | undefined }): Chase {
  if (!given) return NEVER_CHASED;
  const { attempts, last_at } = given;
  if (!last_at) return { attempts, last_at: null };
  const pointer = `${where.at ?? ""}/chase/last_at`;
  if (attempts === 0) throw invalid(pointer, "must be null or left out if attempts is 0");
  const moment = epochOf(last_at);
  if (moment >= 0 && moment <= Date.parse(where.now)) return { attempts, last_at: timestamp(moment) };
  throw invalid(pointer, `must be a time from 1970 to now, ${where.now}, or null if that is not known`);
}
