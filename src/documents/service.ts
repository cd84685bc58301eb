import type { Readable } from "node:stream";
import { refuseWithdrawn } from "../candidates/edits.ts";
import { newContent, newDocument, inlineFile } from "../candidates/new.ts";
import { type CandidateRecord, type ContentRecord, type DocumentRecord, namesFile } from "../candidates/record.ts";
import { contentTag, renderCandidate, renderDocument } from "../candidates/render.ts";
import type { CandidateStore } from "../candidates/store.ts";
import type { NewId } from "../infra/ids.ts";
import type { Precondition } from "../precondition.ts";
import { problem } from "../problems.ts";
import type { ByteRange, IncomingFile, StoredFile } from "../content/file.ts";
import type { ContentStore } from "../content/store.ts";
import {
  documentOf,
  patchedDocument,
  refuseContent,
  withChanged,
  withContent,
  withDocument,
} from "../candidates/document-edits.ts";
import type { FileOwner } from "../content/pending-store.ts";
import { type Document, type DocumentPatch, MAX_NAME, type NewDocument } from "../candidates/document-schema.ts";

/** Where a document is, and whose it has to be. */
export interface DocumentAddress {
  readonly accountId: string;
  readonly candidateId: string;
  readonly documentId: string;
}

/** A document with its content, the bytes yet to be read. */
export interface DocumentContent {
  readonly document: DocumentRecord;
  readonly content: ContentRecord;
  readonly open: (range: ByteRange) => Readable;
}

/** What can be done with a candidate's documents. Another account's answer as ones that never existed: not_found. */
export class DocumentService {
  readonly #store: CandidateStore;
  readonly #content: ContentStore;

  constructor(store: CandidateStore, content: ContentStore) {
    this.#store = store;
    this.#content = content;
  }

  /**
   * Writes the file of a document that is to be added. It only looks for the candidate: whether the document may be added
   * is for `add` to say, because a retry under its Idempotency-Key has to reach its first answer.
   * @throws problems not_found, validation_failed (filename), store_unavailable; what the stream fails with.
   */
  async receiveNew(accountId: string, candidateId: string, file: IncomingFile): Promise<StoredFile> {
    await this.#store.get(accountId, candidateId);
    return this.#receive({ accountId, candidateId }, file);
  }

  /**
   * Writes the file that is to become a document's content.
   * @throws problems not_found, candidate_withdrawn, invalid_transition before the first byte is read; else as receiveNew.
   */
  async receive({ accountId, candidateId, documentId }: DocumentAddress, file: IncomingFile): Promise<StoredFile> {
    const record = await this.#store.get(accountId, candidateId);
    const found = documentOf(record, documentId);
    refuseWithdrawn(record);
    refuseContent(found);
    return this.#receive({ accountId, candidateId }, file);
  }

  /** Takes away a file that was received and is not to be used; it does not fail. */
  discard(file: StoredFile): Promise<void> {
    return this.#content.discard([file.id]);
  }

  async #receive(owner: FileOwner, file: IncomingFile): Promise<StoredFile> {
    if (file.filename !== null && Array.from(file.filename).length > MAX_NAME) {
      throw problem("validation_failed", `The filename may have at most ${MAX_NAME} characters.`, {
        errors: [{ pointer: "/content/filename", detail: `must have at most ${MAX_NAME} characters` }],
      });
    }
    return this.#content.store(file, owner);
  }

  /**
   * Adds a document, with its content where that came with it: received beforehand as a file, or inside `given`. A document
   * of that id that is there already, from a try that was interrupted, is answered as it is.
   * @throws problems not_found, version_mismatch, candidate_withdrawn, too_many_documents, store_unavailable.
   */
  async add(
    accountId: string,
    candidateId: string,
    given: NewDocument,
    { file, newId, precondition }: { file: StoredFile | undefined; newId: NewId; precondition: Precondition },
  ): Promise<Document> {
    const id = newId("doc");
    const content =
      file ?? (given.content ? await this.receiveNew(accountId, candidateId, inlineFile(given.content)) : undefined);
    const write = () =>
      this.#store.change(accountId, candidateId, (before, now) => {
        if (before.documents.some((document) => document.id === id)) return before;
        precondition([renderCandidate(before)]);
        return withDocument(before, newDocument(given, { id, now, content, started: before.started_at !== null }));
      });
    const record = await this.#content.settle(content === undefined ? [] : [content.id], write, namesFile);
    return renderDocument(candidateId, documentOf(record, id));
  }

  /** Changes fields and makes a move. @throws problems not_found, version_mismatch, candidate_withdrawn, invalid_transition, validation_failed. */
  async update(
    { accountId, candidateId, documentId: id }: DocumentAddress,
    patch: DocumentPatch,
    precondition: Precondition,
  ): Promise<Document> {
    const record = await this.#store.change(accountId, candidateId, (before, now) => {
      guard(before, id, precondition, "document");
      return withChanged(before, id, (document) => patchedDocument(document, patch, now));
    });
    return renderDocument(candidateId, documentOf(record, id));
  }

  /**
   * Makes a file that was received the document's content. Of several at once each becomes it whole, and the last one stays.
   * Two round trips more where it takes another one's place.
   * @throws problems not_found, version_mismatch, candidate_withdrawn, invalid_transition, store_unavailable.
   */
  async putContent(address: DocumentAddress, file: StoredFile, precondition: Precondition): Promise<Document> {
    const write = async () => {
      const noted = new Set<string>();
      for (;;) {
        const { record, unnoted } = await this.#tryContent(address, file, noted, precondition);
        if (unnoted === undefined) return record;
        await this.#content.replaced(unnoted, address);
        noted.add(unnoted);
      }
    };
    const record = await this.#content.settle([file.id], write, namesFile);
    return renderDocument(address.candidateId, documentOf(record, address.documentId));
  }

  /** Writes nothing where the content to be replaced is one that is not noted yet as being replaced. */
  async #tryContent(
    { accountId, candidateId, documentId: id }: DocumentAddress,
    file: StoredFile,
    noted: ReadonlySet<string>,
    precondition: Precondition,
  ): Promise<{ record: CandidateRecord; unnoted: string | undefined }> {
    let unnoted: string | undefined;
    const record = await this.#store.change(accountId, candidateId, (before, now) => {
      guard(before, id, precondition, "content");
      const changed = withChanged(before, id, (document) => withContent(document, newContent(file, now), now));
      const old = documentOf(before, id).content?.file_id;
      unnoted = changed === before || old === undefined || noted.has(old) ? undefined : old;
      return unnoted === undefined ? changed : before;
    });
    return { record, unnoted };
  }

  /** One round trip. @throws problems not_found, content_not_available. */
  async content({ accountId, candidateId, documentId: id }: DocumentAddress): Promise<DocumentContent> {
    const document = documentOf(await this.#store.get(accountId, candidateId), id);
    const { content } = document;
    if (content === null)
      throw problem("content_not_available", `Document ${id} has no content; it is ${document.state}.`);
    return { document, content, open: (range) => this.#content.open(content.file_id, range) };
  }
}

/**
 * @param of what is written: a client that puts content may have seen the document, its candidate, or that content itself.
 * @throws problems not_found, version_mismatch
 */
function guard(
  record: CandidateRecord,
  documentId: string,
  precondition: Precondition,
  of: "document" | "content",
): void {
  const document = documentOf(record, documentId);
  precondition(
    [renderDocument(record.id, document), renderCandidate(record)],
    of === "content" && document.content !== null ? [contentTag(document.content)] : [],
  );
}
