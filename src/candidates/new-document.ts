import { type ContentRecord, type DocumentRecord, NEVER_CHASED } from "./record.ts";
import type { IncomingContent, StoredContent } from "../content/store.ts";
import type { NewContent, NewDocument } from "./document-schema.ts";

export interface NewDocumentFacts {
  readonly id: string;
  readonly now: string;
  /** What came with it, written already; it makes the document received. */
  readonly content: StoredContent | undefined;
  /** Whether the candidate has been started, so that the document is asked for at once. */
  readonly started: boolean;
}

/** The record of a document just given. */
export function newDocumentRecord(given: NewDocument, { id, now, content, started }: NewDocumentFacts): DocumentRecord {
  return {
    id,
    name: given.name,
    state: content !== undefined ? "received" : started ? "requested" : "pending",
    required: given.required ?? true,
    rejection_reason: null,
    expires_on: given.expires_on ?? null,
    metadata: given.metadata ?? {},
    content: content === undefined ? null : contentRecord(content, now),
    chase: NEVER_CHASED,
    created_at: now,
    updated_at: now,
  };
}

export function contentRecord({ id, filename, contentType, size, sha256 }: StoredContent, now: string): ContentRecord {
  return { file_id: id, filename, content_type: contentType, size, sha256, uploaded_at: now };
}

/** Content that came inside JSON, as it would come by itself. */
export function inlineContent({ filename, content_type, data }: NewContent): IncomingContent {
  return { stream: [Buffer.from(data, "base64")], filename: filename ?? null, contentType: content_type ?? null };
}
