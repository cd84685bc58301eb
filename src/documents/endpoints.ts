import type { Requester } from "../accounts/caller.ts";
import type { Eraser } from "../candidates/eraser.ts";
import { CandidatePath } from "../candidates/schema.ts";
import { endpoint } from "../api/endpoint.ts";
import { download } from "./download.ts";
import { Document, DocumentForm, DocumentPatch, DocumentPath, DocumentInput } from "../candidates/document-schema.ts";
import type { DocumentAddress, DocumentService } from "./service.ts";

/** What the operations on one document have in common. */
const ONE = { tag: "Documents", params: DocumentPath, response: Document } as const;

export function documentEndpoints(documents: DocumentService, eraser: Eraser) {
  return {
    add: endpoint({
      name: "addDocument",
      tag: "Documents",
      summary: "Add a document to a candidate, with or without content",
      description:
        "Adds a document. Send it as JSON, with a small file as base64, or as a form with the file in the part content. A larger file can also follow with PUT.",
      params: CandidatePath,
      body: DocumentInput,
      upload: {
        form: DocumentForm,
        store: ({ accountId }, { id }, file) => documents.receiveNew({ accountId, candidateId: id }, file),
        discard: (file) => documents.discard(file),
      },
      status: 201,
      response: Document,
      problems: ["not_found", "version_mismatch", "invalid_transition", "too_many_documents"],
      location: ({ id, candidate_id }) => `/candidates/${candidate_id}/documents/${id}`,
      handle: ({ caller: { accountId, by }, params: { id }, body, file, newId, precondition }) =>
        documents.add({ accountId, by, candidateId: id }, body, { file, newId, precondition }),
    }),
    read: endpoint({
      ...ONE,
      name: "readDocument",
      summary: "Read a document",
      description: "Reads a document. Its bytes are at its path followed by /content.",
      problems: ["not_found"],
      handle: ({ caller, params }) => documents.read(addressOf(caller, params)),
    }),
    update: endpoint({
      ...ONE,
      name: "updateDocument",
      summary: "Update a document, or move it to another state",
      description:
        "Changes the fields that are sent. state moves the document; a move that contradicts the rest is 409 invalid_transition.",
      body: DocumentPatch,
      problems: ["not_found", "version_mismatch", "invalid_transition"],
      handle: ({ caller, params, body, precondition }) =>
        documents.update(addressOf(caller, params), body, precondition),
    }),
    remove: endpoint({
      name: "deleteDocument",
      tag: "Documents",
      summary: "Delete a document and its content",
      description: "Deletes a document with its bytes.",
      params: DocumentPath,
      status: 204,
      problems: ["not_found", "version_mismatch", "on_hold"],
      handle: ({ caller, params: { id, docId }, precondition }) =>
        eraser.removePart(caller, { candidate: id, kind: "documents", id: docId }, precondition).then(() => undefined),
    }),
    putContent: endpoint({
      ...ONE,
      name: "putDocumentContent",
      summary: "Upload a document's content: the raw bytes, with their Content-Type and Content-Disposition",
      description:
        "Stores the bytes of a file, up to 25 MiB, and moves the document to received. Content-Type is kept as it is sent.",
      upload: {
        store: (caller, params, file, precondition) => documents.receive(addressOf(caller, params), file, precondition),
        discard: (file) => documents.discard(file),
      },
      problems: ["not_found", "version_mismatch", "invalid_transition", "on_hold"],
      async handle({ caller, params, file, precondition }) {
        if (file === undefined) throw new Error("A raw upload always has a file.");
        return documents.putContent(addressOf(caller, params), file, precondition);
      },
    }),
    readContent: endpoint({
      ...ONE,
      name: "readDocumentContent",
      summary: "Read a document's content, or a range of it",
      description: "Returns the bytes that were uploaded, with their Content-Type. Range asks for a part.",
      binary: ["*/*"],
      audited: ({ id, docId }) => ({ action: "document.read", candidate: id, subject: docId }),
      problems: ["not_found", "content_not_available", "range_not_satisfiable"],
      handle: async ({ caller, params, header, clientHas }) =>
        download(await documents.content(addressOf(caller, params)), { header, clientHas }),
    }),
  };
}

function addressOf({ accountId, by }: Requester, { id, docId }: { id: string; docId: string }): DocumentAddress {
  return { accountId, by, candidateId: id, documentId: docId };
}
