import { documentOf, withContent } from "../../src/candidates/documents.ts";
import { withChanged } from "../../src/candidates/parts.ts";
import { DOCUMENT_STATES } from "../../src/candidates/document-schema.ts";
import { patched, started, withOutreach } from "../../src/candidates/edits.ts";
import type { CandidateRecord, DocumentRecord, ReferenceRecord } from "../../src/candidates/record.ts";
import { patchedReference, referenceOf, stateAt } from "../../src/candidates/references.ts";
import { REFERENCE_STATES } from "../../src/candidates/reference-schema.ts";
import { DEFAULT_CHASE_ATTEMPTS } from "../../src/candidates/record.ts";
import { expect } from "chai";
import { candidateRecord, contentRecord, documentRecord, referenceRecord } from "../support/records.ts";

const BEFORE = "2026-01-01T00:00:00.000Z";
const NOW = "2026-03-01T12:00:00.000Z";
const AT = { started: true, now: NOW };

const content = contentRecord({ size: 3, uploaded_at: BEFORE });
const document = (state: DocumentRecord["state"], more: Partial<DocumentRecord> = {}) =>
  documentRecord({ state, updated_at: BEFORE, ...more });
const reference = (state: ReferenceRecord["state"], more: Partial<ReferenceRecord> = {}) =>
  referenceRecord({ state, updated_at: BEFORE, ...more });
const candidate = (more: Partial<CandidateRecord> = {}) =>
  candidateRecord({ docs_chase_attempts: 1, reference_chase_attempts: 2, ...more });

describe("An edit of a candidate", () => {
  it("starts its pending documents and its references that are not requested, and no others", () => {
    const before = candidate({
      documents: DOCUMENT_STATES.map((state) => document(state)),
      references: REFERENCE_STATES.map((state) => reference(state, { requested_at: BEFORE })),
    });
    const after = started(before, NOW);
    expect(after).to.deep.equal({
      ...before,
      started_at: NOW,
      documents: [document("requested", { updated_at: NOW }), ...before.documents.slice(1)],
      references: [reference("requested", { requested_at: NOW, updated_at: NOW }), ...before.references.slice(1)],
    });
    expect(started(after, "2026-04-01T00:00:00.000Z")).to.equal(after);
  });

  it("sets how often it is chased, one number or both, and null sets the default", () => {
    const record = candidate();
    expect(withOutreach(record, { docs_chase_attempts: 1 }, NOW)).to.equal(record);
    expect(withOutreach(record, { docs_chase_attempts: 1, reference_chase_attempts: 2 }, NOW)).to.equal(record);
    const set = (docs: number, references: number) => ({
      ...record,
      docs_chase_attempts: docs,
      reference_chase_attempts: references,
    });
    expect(withOutreach(record, { docs_chase_attempts: 5 }, NOW)).to.deep.equal(set(5, 2));
    expect(withOutreach(record, { reference_chase_attempts: 0 }, NOW)).to.deep.equal(set(1, 0));
    const none = { docs_chase_attempts: null, reference_chase_attempts: null };
    expect(withOutreach(record, none, NOW)).to.deep.equal(set(DEFAULT_CHASE_ATTEMPTS, DEFAULT_CHASE_ATTEMPTS));
  });

  it("keeps a withdrawal's reason until it is replaced, cleared or the candidate is reinstated", () => {
    const record = candidate({ withdrawn: true, withdrawal_reason: "Moved" });
    expect(patched(record, { withdrawn: true })).to.equal(record);
    expect(patched(record, {})).to.equal(record);
    expect(patched(record, { withdrawal_reason: "Ill" })).to.include({ withdrawn: true, withdrawal_reason: "Ill" });
    expect(patched(record, { withdrawal_reason: null })).to.include({ withdrawn: true, withdrawal_reason: null });
    expect(patched(record, { withdrawn: false })).to.include({ withdrawn: false, withdrawal_reason: null });
    expect(patched(record, { withdrawn: false, withdrawal_reason: null })).to.include({ withdrawal_reason: null });
    expect(() => patched(record, { withdrawn: false, withdrawal_reason: "Ill" })).to.throw(
      /Only a withdrawn candidate/,
    );
    expect(patched(candidate(), { withdrawal_reason: null })).to.deep.equal(candidate());
  });

  it("changes one document and leaves the others the same objects", () => {
    const [one, two] = [document("pending"), document("pending", { id: "doc_2" })];
    const record = candidate({ documents: [one, two] });
    const after = withChanged(record, "documents", two, { ...two, name: "ID" });
    expect(after.documents[0]).to.equal(one);
    expect(after.documents[1]).to.deep.equal({ ...two, name: "ID" });
    expect(withChanged(record, "documents", two, two)).to.equal(record);
  });

  it("names at most 100 characters of an id that is unknown", () => {
    const text = /: There is no reference "x{100}"\. Check the id\.$|^There is no reference "x{100}"\. Check the id\.$/;
    expect(() => referenceOf(candidate(), "x".repeat(101))).to.throw(text);
    const none = 'The candidate has no document "' + "x".repeat(100) + '". Check the id.';
    expect(() => documentOf(candidate(), "x".repeat(101))).to.throw(none);
  });
});

describe("An edit of a document", () => {
  it("is received with new content, and stays the same with the same content only while it is received", () => {
    const received = document("received", { content });
    expect(withContent(received, { ...content, file_id: "file_2", uploaded_at: NOW }, AT)).to.equal(received);
    for (const other of [{ sha256: "x" }, { filename: null }, { content_type: "text/plain" }])
      expect(withContent(received, { ...content, ...other }, AT).content).to.deep.equal({ ...content, ...other });
    const rejected = document("rejected", { content, rejection_reason: "blurred" });
    expect(withContent(rejected, content, AT)).to.deep.equal({ ...received, updated_at: NOW });
    expect(withContent(document("received"), content, AT)).to.deep.equal({ ...received, updated_at: NOW });
  });
});

describe("An edit of a reference", () => {
  it("sets the times that belong to its state", () => {
    const times = REFERENCE_STATES.map((state) => stateAt(state, NOW, { requested_at: BEFORE }));
    const others = ["declined", "bounced", "unresponsive", "waived", "cancelled"];
    expect(times).to.have.deep.members([
      { state: "not_requested", requested_at: null, received_at: null },
      { state: "requested", requested_at: NOW, received_at: null },
      { state: "received", requested_at: BEFORE, received_at: NOW },
      ...others.map((state) => ({ state, requested_at: BEFORE, received_at: null })),
    ]);
  });

  it("keeps its times if its state is sent again", () => {
    const received = reference("received", { requested_at: BEFORE, received_at: BEFORE });
    expect(patchedReference(received, { state: "received" }, AT)).to.equal(received);
    expect(patchedReference(received, { state: "received", name: "Jo" }, AT)).to.deep.equal({
      ...received,
      name: "Jo",
      updated_at: NOW,
    });
    const kept = reference("not_requested"); // its candidate was started since
    expect(patchedReference(kept, { state: "not_requested" }, AT)).to.equal(kept);
  });
});
