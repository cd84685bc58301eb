import type { Step } from "./exchange.ts";
import { FORM, form } from "./form.ts";

const DOCUMENT = "/candidates/{candidate}/documents/{document}";
const ADD = "POST /candidates/{candidate}/documents";
const PUT = `PUT ${DOCUMENT}/content`;

/** Adds documents, moves them through their states, and sends, reads and refuses their bytes. */
export const DOCUMENT_STEPS: readonly Step[] = [
  { title: "a candidate", request: "POST /candidates", json: {}, keep: { candidate: "id" } },
  { title: "a document", request: ADD, json: { name: "CV" }, keep: { document: "id" } },
  { title: "no name", request: ADD, json: {} },
  {
    title: "wrong fields",
    request: ADD,
    json: { name: 7, required: "yes", expires_on: "soon", state: "gone", rejection_reason: 5, content: "bytes" },
  },
  { title: "a reason without a rejection", request: ADD, json: { name: "CV", rejection_reason: "blurred" } },
  {
    title: "content",
    request: ADD,
    json: { name: "Note", content: { data: "aGVsbG8=", filename: "note.txt", content_type: "text/plain" } },
    keep: { note: "id" },
  },
  {
    title: "content that is no base64",
    request: ADD,
    json: { name: "Note", content: { data: "***", content_type: "text" } },
  },
  {
    title: "content in a state that takes none",
    request: ADD,
    json: { name: "Note", state: "cancelled", content: { data: "aGVsbG8=" } },
  },
  {
    title: "a form",
    request: ADD,
    headers: FORM,
    body: form(['name="name"', "Scan"], ['name="content"; filename="scan.pdf"', "%PDF-1.7"]),
  },
  {
    title: "a form without a name",
    request: ADD,
    headers: FORM,
    body: form(['name="content"; filename="scan.pdf"', "%PDF-1.7"]),
  },
  {
    title: "a form with two files",
    request: ADD,
    headers: FORM,
    body: form(['name="name"', "A"], ['name="content"; filename="a"', "a"], ['name="content"; filename="b"', "b"]),
  },
  {
    title: "a form with an unknown field, and one twice",
    request: ADD,
    headers: FORM,
    body: form(['name="name"', "A"], ['name="name"', "B"], ['name="colour"', "red"]),
  },
  { title: "a form that is cut off", request: ADD, headers: FORM, body: form(['name="name"', "A"]).slice(0, -10) },
  {
    title: "a form without a boundary",
    request: ADD,
    headers: { "Content-Type": "multipart/form-data" },
    body: form(['name="name"', "A"]),
  },
  {
    title: "a form with a large file",
    request: ADD,
    headers: FORM,
    body: form(['name="name"', "A"], ['name="content"; filename="a"', "a".repeat(2_001)]),
  },

  { title: "read", request: `GET ${DOCUMENT}` },
  { title: "not changed", request: `GET ${DOCUMENT}`, headers: { "If-None-Match": "{etag}" } },
  { title: "no such document", request: "GET /candidates/{candidate}/documents/doc_00000000000000000000000000" },
  { title: "no content yet", request: `GET ${DOCUMENT}/content` },
  { title: "a change", request: `PATCH ${DOCUMENT}`, json: { name: "Resume", required: false, metadata: { page: 1 } } },
  { title: "a rejection", request: `PATCH ${DOCUMENT}`, json: { state: "rejected", rejection_reason: "blurred" } },
  { title: "a step back", request: `PATCH ${DOCUMENT}`, json: { state: "pending" } },
  { title: "a state that nobody knows", request: `PATCH ${DOCUMENT}`, json: { state: "done" } },
  { title: "a reason alone", request: `PATCH ${DOCUMENT}`, json: { state: "requested", rejection_reason: "x" } },
  {
    title: "bytes",
    request: PUT,
    body: "%PDF-1.7 bytes",
    headers: { "Content-Type": "application/pdf", "Content-Disposition": 'attachment; filename="cv.pdf"' },
  },
  { title: "no bytes", request: PUT, headers: { "Content-Type": "application/pdf" } },
  { title: "too many bytes", request: PUT, body: "a".repeat(2_001), headers: { "Content-Type": "text/plain" } },
  { title: "bytes as a form", request: PUT, body: form(), headers: FORM },
  { title: "no media type", request: PUT, body: "a", headers: { "Content-Type": "pdf" } },
  {
    title: "a name that cannot be read",
    request: PUT,
    body: "a",
    headers: { "Content-Type": "text/plain", "Content-Disposition": "attachment; filename=" },
  },
  {
    title: "encoded bytes",
    request: PUT,
    body: "a",
    headers: { "Content-Type": "text/plain", "Content-Encoding": "gzip" },
  },
  { title: "downloaded", request: `GET ${DOCUMENT}/content` },
  { title: "not downloaded again", request: `GET ${DOCUMENT}/content`, headers: { "If-None-Match": "{etag}" } },
  { title: "a part", request: `GET ${DOCUMENT}/content`, headers: { Range: "bytes=2-4" } },
  { title: "the last bytes", request: `GET ${DOCUMENT}/content`, headers: { Range: "bytes=-3" } },
  { title: "a part that is not there", request: `GET ${DOCUMENT}/content`, headers: { Range: "bytes=900-" } },
  { title: "a note", request: "GET /candidates/{candidate}/documents/{note}/content" },
  { title: "accepted", request: `PATCH ${DOCUMENT}`, json: { state: "accepted" } },
  { title: "bytes for an accepted document", request: PUT, body: "b" },
  { title: "cancelled", request: `PATCH ${DOCUMENT}`, json: { state: "cancelled" } },
  { title: "bytes for a cancelled document", request: PUT, body: "b" },
  { title: "removed from another version", request: `DELETE ${DOCUMENT}`, headers: { "If-Match": '"other"' } },
  { title: "removed", request: `DELETE ${DOCUMENT}` },
  { title: "removed again", request: `DELETE ${DOCUMENT}` },
  { title: "the candidate", request: "GET /candidates/{candidate}" },
];
