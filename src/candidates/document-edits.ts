import { mergedMetadata, refuseWithdrawn } from "./edits.ts";
import type { CandidateRecord, ContentRecord, DocumentRecord } from "./record.ts";
import { MAX_DOCUMENTS } from "./schema.ts";
import { type Problem, problem } from "../problems.ts";
import type { DocumentPatch, DocumentState } from "./document-schema.ts";
import { DOCUMENT_MOVES, isPast, TAKES_CONTENT } from "./document-state.ts";

/** The pure changes of a candidate's documents; CandidateStore.change runs them. */

/** The candidate with one more document. @throws problems candidate_withdrawn, too_many_documents */
export function withDocument(record: CandidateRecord, document: DocumentRecord): CandidateRecord {
  refuseWithdrawn(record);
  if (record.documents.length >= MAX_DOCUMENTS) {
    throw problem("too_many_documents", `A candidate has at most ${MAX_DOCUMENTS} documents.`);
  }
  return { ...record, documents: [...record.documents, document] };
}

/** The candidate with one document changed; itself where nothing changes. @throws problems candidate_withdrawn, not_found */
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
  if (document === undefined) throw problem("not_found", `There is no document ${JSON.stringify(id.slice(0, 100))}.`);
  return document;
}

/** The document with the patch merged in and its move made. @throws problems invalid_transition, validation_failed */
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
  throw problem("validation_failed", "A reason is taken for a rejected document only.", {
    errors: [{ pointer: "/rejection_reason", detail: 'must come with "state": "rejected"' }],
  });
}

function refuseClosedMove(before: DocumentRecord, after: DocumentRecord, now: string): void {
  if (after.state === before.state) return;
  if (!DOCUMENT_MOVES[before.state].includes(after.state)) throw closed(before, after.state);
  // The clock would take the acceptance back within a minute.
  if (after.state === "accepted" && isPast(after.expires_on, now)) {
    throw problem(
      "invalid_transition",
      `A document whose expires_on (${after.expires_on}) is past cannot be accepted; give it a later day, or null.`,
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

/** The document with this content, received by it; the very same content again changes nothing. @throws problem invalid_transition */
export function withContent(before: DocumentRecord, content: ContentRecord, now: string): DocumentRecord {
  refuseContent(before);
  if (before.state === "received" && isSame(before.content, content)) return before;
  return { ...before, state: "received", rejection_reason: null, content, updated_at: now };
}

/** @throws problem invalid_transition where the document is settled. */
export function refuseContent(document: DocumentRecord): void {
  if (!TAKES_CONTENT[document.state]) throw closed(document, "received");
}

function isSame(one: ContentRecord | null, other: ContentRecord): boolean {
  return one?.sha256 === other.sha256 && one.filename === other.filename && one.content_type === other.content_type;
}

function closed({ state }: DocumentRecord, to: DocumentState): Problem {
  const allowed = DOCUMENT_MOVES[state];
  const open = allowed.length === 0 ? "no move is open from there" : `open from there: ${allowed.join(", ")}`;
  return problem(
    "invalid_transition",
    `A document that is ${state} cannot become ${to}${to === "received" && TAKES_CONTENT[state] ? " without content" : ""}; ${open}.`,
    {
      members: { from: state, to, allowed },
    },
  );
}
