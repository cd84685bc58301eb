import { type Document, type DocumentInput, type DocumentPatch, MAX_NAME } from "../candidates/document-schema.ts";
import {
  checkTakesContent,
  documentOf,
  inlineFile,
  newContent,
  newDocument,
  patchedDocument,
  withContent,
} from "../candidates/documents.ts";
import { situationOf } from "../candidates/moves.ts";
import { checkNotRemoved, withChanged, withDecider, withPart } from "../candidates/parts.ts";
import type { Author, CandidateRecord, DocumentRecord } from "../candidates/record.ts";
import { namesFile, onHold } from "../candidates/erasure.ts";
import { contentTag, renderDocument, taggedCandidate } from "../candidates/render.ts";
import type { CandidateStore } from "../candidates/store.ts";
import type { ByteRange, IncomingFile, StoredFile } from "../content/file.ts";
import type { ContentStore, FileOwner } from "../content/store.ts";
import type { NewId } from "../infra/ids.ts";
import { invalid, type Precondition, Problem, problem } from "../problems.ts";

/** Identifies a document. The candidate must belong to that account. */
export type DocumentAddress = FileOwner & Author & { readonly documentId: string };

/** A document with its content. `open` reads the bytes. */
export type DocumentContent = Awaited<ReturnType<DocumentService["content"]>>;

export type DocumentService = ReturnType<typeof documentService>;

/**
 * The operations on a candidate's documents. Another account's document is not_found, as if it had never existed. The
 * endpoints list the problems of each.
 */
export function documentService(store: CandidateStore, contents: ContentStore) {
  const recordOf = ({ accountId, candidateId }: FileOwner) => store.reader.get(accountId, candidateId);

  /**
   * Stores the file of a new document. Checks only that the candidate exists and that the filename is short enough.
   * `add` makes the other checks, because a retry with the same Idempotency-Key must get its first response even if they
   * would now fail.
   * @throws problem validation_failed (filename), and whatever the stream fails with.
   */
  async function receiveNew(owner: FileOwner, file: IncomingFile): Promise<StoredFile> {
    await recordOf(owner);
    return keep(owner, file);
  }

  /**
   * Stores the file that will become a document's content.
   * @throws problems version_mismatch, invalid_transition before it reads the first byte; then as `receiveNew`.
   */
  async function receive({ documentId, ...owner }: DocumentAddress, file: IncomingFile, precondition: Precondition) {
    const record = await recordOf(owner);
    const document = documentOf(record, documentId);
    checkContentMatches(record, document, precondition);
    checkTakesContent(document.state, record.started_at !== null);
    return keep(owner, file);
  }

  async function keep(owner: FileOwner, file: IncomingFile): Promise<StoredFile> {
    if (file.filename !== null && Array.from(file.filename).length > MAX_NAME) {
      const detail = `The filename has more than ${MAX_NAME} characters. Send a shorter one.`;
      throw invalid("/content/filename", `must have at most ${MAX_NAME} characters`, detail);
    }
    try {
      return await contents.store(file, owner);
    } catch (error) {
      // The deletion of the candidate ends its uploads. This then says so.
      if (error instanceof Problem && error.code === "request_timeout") await recordOf(owner);
      throw error;
    }
  }

  /**
   * Adds a document. Its content, if any, is `file`, which is already stored, or is inside `given`. If an interrupted
   * attempt already added the document, returns that document as it is.
   */
  async function add(
    owner: FileOwner & Author,
    given: DocumentInput,
    { file, newId, precondition }: { file: StoredFile | undefined; newId: NewId; precondition: Precondition },
  ): Promise<Document> {
    const { candidateId } = owner;
    const id = newId("doc");
    const stored = file ?? (given.content ? await receiveNew(owner, inlineFile(given.content)) : undefined);
    const write = () =>
      store.change(owner, candidateId, (before, now) => {
        if (before.documents.some((document) => document.id === id)) return before;
        checkNotRemoved(before, id);
        precondition(() => [taggedCandidate(before)]);
        const document = newDocument(given, { id, content: stored, ...situationOf(before, now) });
        return withPart(before, "documents", document);
      });
    const record = await contents.settle(stored === undefined ? [] : [stored.id], write, namesFile);
    return renderDocument(record, documentOf(record, id));
  }

  async function update(
    { documentId: id, ...owner }: DocumentAddress,
    { decided_by, ...patch }: DocumentPatch,
    precondition: Precondition,
  ): Promise<Document> {
    const record = await store.change(owner, owner.candidateId, (before, now) => {
      const document = documentOf(before, id);
      precondition(() => [renderDocument(before, document), taggedCandidate(before)]);
      const after = patchedDocument(document, patch, situationOf(before, now));
      return withDecider(withChanged(before, "documents", document, after), document, after, decided_by);
    });
    return renderDocument(record, documentOf(record, id));
  }

  /** Makes a stored file the document's content. Concurrent uploads never mix; the last one wins. */
  async function putContent(address: DocumentAddress, file: StoredFile, precondition: Precondition): Promise<Document> {
    const { candidateId, documentId: id } = address;
    const listed = new Set<string | undefined>([undefined]);
    const write = async (): Promise<CandidateRecord> => {
      for (;;) {
        let old: string | undefined;
        // Writes nothing if it would replace a file that is not yet listed as replaced.
        const record = await store.change(address, candidateId, (before, now) => {
          const document = documentOf(before, id);
          checkContentMatches(before, document, precondition);
          const after = withContent(document, newContent(file, now), situationOf(before, now));
          const changed = withChanged(before, "documents", document, after);
          old = changed === before ? undefined : document.content?.file_id;
          return listed.has(old) ? changed : before;
        });
        if (old === undefined || listed.has(old)) return record;
        await contents.replaced(old, address);
        listed.add(old);
      }
    };
    const record = await contents.settle([file.id], write, namesFile);
    return renderDocument(record, documentOf(record, id));
  }

  async function read({ documentId, ...owner }: DocumentAddress): Promise<Document> {
    const record = await recordOf(owner);
    return renderDocument(record, documentOf(record, documentId));
  }

  async function contentOf({ documentId: id, ...owner }: DocumentAddress) {
    const document = documentOf(await recordOf(owner), id);
    const { content, state } = document;
    const detail = `Document ${id} is ${state} and has no content. Read it once its \`content\` is not null.`;
    if (content === null) throw problem("content_not_available", detail);
    return { document, content, open: (range: ByteRange) => contents.open(content.file_id, range) };
  }

  /** Removes a stored file that will not be used. Never fails. */
  const discard = (file: StoredFile) => contents.discard([file.id]);
  return { receiveNew, receive, discard, add, update, putContent, read, content: contentOf };
}

/** Checks If-Match of a write of content: it may name the document, its candidate or the present content. Then the hold. */
function checkContentMatches(record: CandidateRecord, document: DocumentRecord, precondition: Precondition): void {
  const tags = document.content === null ? [] : [contentTag(document.content)];
  precondition(() => [renderDocument(record, document), taggedCandidate(record)], tags);
  if (record.hold !== null && document.content !== null) throw onHold(record.id);
}
