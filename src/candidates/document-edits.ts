import { allowedMoves, mergedMetadata, refuseWithdrawn } from "./edits.ts";
import type { CandidateRecord, ContentRecord, DocumentRecord } from "./record.ts";
import { MAX_DOCUMENTS } from "./schema.ts";
import { type Problem, problem } from "../problems.ts";
import type { DocumentPatch, DocumentState } from "./document-schema.ts";
import { DOCUMENT_MOVES, isPast, TAKES_CONTENT } from "./document-state.ts";

/** Pure edits of a candidate's documents. CandidateStore.change runs them. */

/** Adds a document to the candidate. @throws problems candidate_withdrawn, too_many_documents */
export function withDocument(record: CandidateRecord, document: DocumentRecord): CandidateRecord {
  refuseWithdrawn(record);
  if (record.documents.length >= MAX_DOCUMENTS) {
    throw problem(
      "too_many_documents",
      `The candidate already has ${MAX_DOCUMENTS} documents, the maximum. Change one of them instead.`,
    );
  }
  return { ...record, documents: [...record.documents, document] };
}

/** Changes one document. Returns the same record if nothing changes. @throws problems candidate_withdrawn, not_found */
export function withChanged(
  record: CandidateRecord,
  id: string,
  change: (document: DocumentRecord) => DocumentRecord,
): CandidateRecord {
  const document = documentOf(record, id);
  refuseWithdrawn(record);
  const changed = change(document);
  if (changed === document) return record;
  return { ...record, documents: record.documents.map((other) => (other === document ? changed : other)) };
}

/** @throws problem not_found */
export function documentOf({ documents }: CandidateRecord, id: string): DocumentRecord {
  const document = documents.find((each) => each.id === id);
  if (document === undefined)
    throw problem("not_found", `The candidate has no document ${JSON.stringify(id.slice(0, 100))}. Check the id.`);
  return document;
}

/**
 * Merges the patch into the document and moves it to the state in the patch.
 * @throws problems invalid_transition, validation_failed
 */
export function patchedDocument(before: DocumentRecord, patch: DocumentPatch, now: string): DocumentRecord {
  const { state = before.state, metadata, required = before.required, rejection_reason, ...fields } = patch;
  const edited: DocumentRecord = {
    ...before,
    ...fields,
    state,
    required: required ?? true,
    rejection_reason: reasonAfter(before, state, rejection_reason),
    metadata: mergedMetadata(before.metadata, metadata),
  };
  refuseClosedMove(before, edited, now);
  return JSON.stringify(edited) === JSON.stringify(before) ? before : { ...edited, updated_at: now };
}

function reasonAfter(before: DocumentRecord, state: DocumentState, given: string | null | undefined): string | null {
  if (state === "rejected") return given === undefined ? before.rejection_reason : given;
  if (!given) return null;
  throw problem(
    "validation_failed",
    'Only a rejected document can have a rejection_reason. Send it with "state": "rejected", or leave it out.',
    {
      errors: [{ pointer: "/rejection_reason", detail: 'must be sent with "state": "rejected"' }],
    },
  );
}

function refuseClosedMove(before: DocumentRecord, after: DocumentRecord, now: string): void {
  if (after.state === before.state) return;
  if (!DOCUMENT_MOVES[before.state].includes(after.state)) throw closed(before, after.state);
  // The expiry sweep would revert the acceptance within a minute.
  if (after.state === "accepted" && isPast(after.expires_on, now)) {
    throw problem(
      "invalid_transition",
      "A document whose expires_on has passed cannot be accepted. Send a later expires_on, or null.",
      {
        members: {
          from: before.state,
          to: after.state,
          allowed: DOCUMENT_MOVES[before.state].filter((state) => state !== "accepted"),
        },
      },
    );
  }
}

/**
 * Gives the document this content and moves it to received. Returns the same record if the document is already received
 * with the same bytes, filename and media type.
 * @throws problem invalid_transition
 */
export function withContent(before: DocumentRecord, content: ContentRecord, now: string): DocumentRecord {
  refuseContent(before);
  if (before.state === "received" && isSame(before.content, content)) return before;
  return { ...before, state: "received", rejection_reason: null, content, updated_at: now };
}

/** @throws problem invalid_transition if the document's state takes no content: accepted, waived or cancelled. */
export function refuseContent(document: DocumentRecord): void {
  if (!TAKES_CONTENT[document.state]) throw closed(document, "received");
}

function isSame(one: ContentRecord | null, other: ContentRecord): boolean {
  return one?.sha256 === other.sha256 && one.filename === other.filename && one.content_type === other.content_type;
}

function closed({ state }: DocumentRecord, to: DocumentState): Problem {
  const allowed = DOCUMENT_MOVES[state];
  const lacksContent = to === "received" && TAKES_CONTENT[state];
  const refusal = `A document that is ${state} cannot become ${to}${lacksContent ? " without content" : ""}.`;
  return problem("invalid_transition", `${refusal} ${allowedMoves(allowed)}`, {
    members: { from: state, to, allowed },
  });
}
