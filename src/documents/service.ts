import {
  checkNewDocument,
  documentOf,
  inlineFile,
  newContent,
  newDocument,
  patchedDocument,
  checkTakesContent,
  withChanged,
  withContent,
  withDocument,
} from "../candidates/documents.ts";
import { type CandidateRecord, type ContentRecord, type DocumentRecord, namesFile } from "../candidates/record.ts";
import { contentTag, renderDocument, taggedCandidate } from "../candidates/render.ts";
import type { CandidateStore } from "../candidates/store.ts";
import { checkNotRemoved } from "../candidates/erasure.ts";
import { type Document, type DocumentInput, type DocumentPatch, MAX_NAME } from "../candidates/document-schema.ts";
import type { Readable } from "node:stream";
import type { NewId } from "../infra/ids.ts";
import { invalid, type Precondition, Problem, problem } from "../problems.ts";
import type { ByteRange, IncomingFile, StoredFile } from "../content/file.ts";
import type { ContentStore, FileOwner } from "../content/store.ts";

/** Identifies a document. The candidate must belong to that account. */
export interface DocumentAddress {
  readonly accountId: string;
  readonly candidateId: string;
  readonly documentId: string;
}

/** A document with its content. `open` reads the bytes. */
export interface DocumentContent {
  readonly document: DocumentRecord;
  readonly content: ContentRecord;
  readonly open: (range: ByteRange) => Readable;
}

/**
 * The operations on a candidate's documents. Another account's document is not_found, as if it had never existed. Every
 * method may throw problems not_found and store_unavailable.
 */
export class DocumentService {
  readonly #store: CandidateStore;
  readonly #content: ContentStore;

  constructor(store: CandidateStore, content: ContentStore) {
    this.#store = store;
    this.#content = content;
  }

  /**
   * Stores the file of a new document. Checks only that the candidate exists and that the filename is short enough.
   * `add` makes the other checks, because a retry with the same Idempotency-Key must get its first response even if they
   * would now fail.
   * @throws problem validation_failed (filename), and whatever the stream fails with.
   */
  async receiveNew(accountId: string, candidateId: string, file: IncomingFile): Promise<StoredFile> {
    await this.#store.get(accountId, candidateId);
    return this.#receive({ accountId, candidateId }, file);
  }

  /**
   * Stores the file that will become a document's content.
   * @throws problems version_mismatch, invalid_transition before it reads the first byte; then as `receiveNew`.
   */
  async receive(
    { accountId, candidateId, documentId }: DocumentAddress,
    file: IncomingFile,
    precondition: Precondition,
  ): Promise<StoredFile> {
    const record = await this.#store.get(accountId, candidateId);
    checkPrecondition(record, documentId, precondition, "content");
    checkTakesContent(documentOf(record, documentId).state, { started: record.started_at !== null });
    return this.#receive({ accountId, candidateId }, file);
  }

  /** Removes a stored file that will not be used. Never fails. */
  discard(file: StoredFile): Promise<void> {
    return this.#content.discard([file.id]);
  }

  async #receive(owner: FileOwner, file: IncomingFile): Promise<StoredFile> {
    if (file.filename !== null && Array.from(file.filename).length > MAX_NAME) {
      const detail = `The filename has more than ${MAX_NAME} characters. Send a shorter one.`;
      throw invalid("/content/filename", `must have at most ${MAX_NAME} characters`, detail);
    }
    try {
      return await this.#content.store(file, owner);
    } catch (error) {
      // The deletion of the candidate ends its uploads. This then says so.
      if (error instanceof Problem && error.code === "request_timeout")
        await this.#store.get(owner.accountId, owner.candidateId);
      throw error;
    }
  }

  /**
   * Adds a document. Its content, if any, is `file`, which is already stored, or is inside `given`. If an interrupted
   * attempt already added the document, returns that document as it is.
   * @throws problems version_mismatch, invalid_transition, too_many_documents, validation_failed.
   */
  async add(
    accountId: string,
    candidateId: string,
    given: DocumentInput,
    { file, newId, precondition }: { file: StoredFile | undefined; newId: NewId; precondition: Precondition },
  ): Promise<Document> {
    const id = newId("doc");
    const content =
      file ?? (given.content ? await this.receiveNew(accountId, candidateId, inlineFile(given.content)) : undefined);
    const write = () =>
      this.#store.change(accountId, candidateId, (before, now) => {
        if (before.documents.some((document) => document.id === id)) return before;
        checkNotRemoved(before, id);
        precondition([taggedCandidate(before)]);
        const situation = situationOf(before, now);
        checkNewDocument(given, { ...situation, file: content !== undefined });
        return withDocument(before, newDocument(given, { id, content, ...situation }));
      });
    const record = await this.#content.settle(content === undefined ? [] : [content.id], write, namesFile);
    return renderDocument(candidateId, documentOf(record, id));
  }

  /**
   * Changes a document's fields, its state or both.
   * @throws problems version_mismatch, invalid_transition, validation_failed.
   */
  async update(
    { accountId, candidateId, documentId: id }: DocumentAddress,
    patch: DocumentPatch,
    precondition: Precondition,
  ): Promise<Document> {
    const record = await this.#store.change(accountId, candidateId, (before, now) => {
      checkPrecondition(before, id, precondition, "document");
      return withChanged(before, id, (document) => patchedDocument(document, patch, situationOf(before, now)));
    });
    return renderDocument(candidateId, documentOf(record, id));
  }

  /**
   * Makes a stored file the document's content. Concurrent uploads never mix; the last one wins.
   * @throws problems version_mismatch, invalid_transition.
   */
  async putContent(address: DocumentAddress, file: StoredFile, precondition: Precondition): Promise<Document> {
    const write = async () => {
      const listed = new Set<string>();
      for (;;) {
        const { record, unlisted } = await this.#attemptContent(address, file, listed, precondition);
        if (unlisted === undefined) return record;
        await this.#content.replaced(unlisted, address);
        listed.add(unlisted);
      }
    };
    const record = await this.#content.settle([file.id], write, namesFile);
    return renderDocument(address.candidateId, documentOf(record, address.documentId));
  }

  /** Writes nothing if it would replace a file that is not yet listed as replaced. Returns that file's id instead. */
  async #attemptContent(
    { accountId, candidateId, documentId: id }: DocumentAddress,
    file: StoredFile,
    listed: ReadonlySet<string>,
    precondition: Precondition,
  ): Promise<{ record: CandidateRecord; unlisted: string | undefined }> {
    let unlisted: string | undefined;
    const record = await this.#store.change(accountId, candidateId, (before, now) => {
      checkPrecondition(before, id, precondition, "content");
      const changed = withChanged(before, id, (document) =>
        withContent(document, newContent(file, now), situationOf(before, now)),
      );
      const old = documentOf(before, id).content?.file_id;
      unlisted = changed === before || old === undefined || listed.has(old) ? undefined : old;
      return unlisted === undefined ? changed : before;
    });
    return { record, unlisted };
  }

  async read({ accountId, candidateId, documentId }: DocumentAddress): Promise<Document> {
    const record = await this.#store.get(accountId, candidateId);
    return renderDocument(candidateId, documentOf(record, documentId));
  }

  /** Returns a document with its content. @throws problem content_not_available */
  async content({ accountId, candidateId, documentId: id }: DocumentAddress): Promise<DocumentContent> {
    const document = documentOf(await this.#store.get(accountId, candidateId), id);
    const { content } = document;
    if (content === null)
      throw problem(
        "content_not_available",
        `Document ${id} is ${document.state} and has no content. Read it once its \`content\` is not null.`,
      );
    return { document, content, open: (range) => this.#content.open(content.file_id, range) };
  }
}

/**
 * Checks If-Match against the views that the client may have seen: the document and its candidate, and for a write of
 * content also the present content itself.
 * @throws problems not_found, version_mismatch
 */
function checkPrecondition(
  record: CandidateRecord,
  documentId: string,
  precondition: Precondition,
  target: "document" | "content",
): void {
  const document = documentOf(record, documentId);
  precondition(
    [renderDocument(record.id, document), taggedCandidate(record)],
    target === "content" && document.content !== null ? [contentTag(document.content)] : [],
  );
}

function situationOf({ started_at }: CandidateRecord, now: string): { started: boolean; now: string } {
  return { started: started_at !== null, now };
}
