import { patched, started } from "../../src/candidates/edits.ts";
import { expired, situationOf } from "../../src/candidates/moves.ts";
import { withChanged, withPart } from "../../src/candidates/parts.ts";
import type { CandidateRecord, ContentRecord, DocumentRecord } from "../../src/candidates/record.ts";
import { documentOf, newDocument, patchedDocument, withContent } from "../../src/candidates/documents.ts";
import { newReference, patchedReference } from "../../src/candidates/references.ts";
import { CANDIDATE_STATES } from "../../src/candidates/schema.ts";
import { derive } from "../../src/candidates/states.ts";
import { DOCUMENT_STATES } from "../../src/candidates/document-schema.ts";
import { REFERENCE_STATES } from "../../src/candidates/reference-schema.ts";
import { expect } from "chai";
import fc from "fast-check";
import { Problem } from "../../src/problems.ts";
import { candidateRecord } from "../support/records.ts";

const NOW = "2026-11-21T12:00:00.000Z";
const TODAY = "2026-11-21";
const CONTENT: ContentRecord = {
  file_id: "f",
  filename: null,
  content_type: "text/plain",
  size: 1,
  sha256: "00",
  uploaded_at: NOW,
};

const EMPTY = candidateRecord({ created_at: NOW, updated_at: NOW });

type Step = (record: CandidateRecord, n: number) => CandidateRecord;

function withDocumentChanged(
  record: CandidateRecord,
  at: number,
  change: (document: DocumentRecord) => DocumentRecord,
): CandidateRecord {
  const document = documentOf(record, record.documents[at % record.documents.length]?.id ?? "none");
  return withChanged(record, "documents", document, change(document));
}

/** A day before, on or after today, or none. */
const day = fc.constantFrom("2026-11-20", TODAY, "2026-11-22", null);
const pick = fc.nat({ max: 5 });
const steps: fc.Arbitrary<Step> = fc.oneof(
  fc.constant<Step>((record) => started(record, NOW)),
  fc.boolean().map<Step>((withdrawn) => (record) => patched(record, { withdrawn })),
  fc
    .option(fc.nat({ max: 4 }))
    .map<Step>((references_required) => (record) => patched(record, { references_required })),
  fc
    .record({ required: fc.boolean(), state: fc.option(fc.constantFrom(...DOCUMENT_STATES)), expires_on: day })
    .map<Step>((given) => (record, n) => {
      const facts = { id: `doc_${n}`, now: NOW, content: undefined, started: record.started_at !== null };
      return withPart(record, "documents", newDocument({ name: `d${n}`, ...given }, facts));
    }),
  fc
    .tuple(pick, fc.record({ state: fc.constantFrom(...DOCUMENT_STATES), expires_on: day }, { requiredKeys: [] }))
    .map<Step>(
      ([at, patch]) =>
        (record) =>
          withDocumentChanged(record, at, (document) => patchedDocument(document, patch, situationOf(record, NOW))),
    ),
  pick.map<Step>(
    (at) => (record) =>
      withDocumentChanged(record, at, (document) => withContent(document, CONTENT, situationOf(record, NOW))),
  ),
  fc
    .record({ state: fc.option(fc.constantFrom(...REFERENCE_STATES)) })
    .map<Step>(
      (given) => (record, n) =>
        withPart(record, "references", newReference(given, { id: `ref_${n}`, ...situationOf(record, NOW) })),
    ),
  fc.tuple(pick, fc.constantFrom(...REFERENCE_STATES)).map<Step>(([at, state]) => (record) => ({
    ...record,
    references: record.references.map((reference, n) =>
      n === at % record.references.length
        ? patchedReference(reference, { state }, { started: record.started_at !== null, now: NOW })
        : reference,
    ),
  })),
  fc.constant<Step>((record) => expired(record, TODAY, NOW)),
);

/** Checks the derived state against the same rules, stated independently by counting. */
function check(record: CandidateRecord): void {
  const { state, waiting_on, reference_requirements } = derive(record);
  const live = record.references.filter((reference) => !["waived", "cancelled"].includes(reference.state));
  const required = record.references_required ?? live.length;
  const received = live.filter((reference) => reference.state === "received").length;
  expect(reference_requirements).to.deep.equal({ required, received, outstanding: Math.max(required - received, 0) });

  const holding = record.documents.filter(
    (document) => document.required && !["waived", "cancelled"].includes(document.state),
  );
  const needsAction = [...holding, ...live].some(({ state }) =>
    ["rejected", "expired", "declined", "bounced", "unresponsive"].includes(state),
  );
  const asksForAnything =
    live.length > 0 || record.documents.some((document) => !["waived", "cancelled"].includes(document.state));
  const settled =
    holding.every((document) => document.state === "accepted") && received === live.length && required <= received;
  expect(CANDIDATE_STATES).to.include(state);
  expect(state === "withdrawn").to.equal(record.withdrawn);
  if (record.withdrawn) return expect(waiting_on).to.deep.equal([]) as never;
  expect(state === "created").to.equal(record.started_at === null);
  if (state === "created") return;
  expect(state === "action_required").to.equal(needsAction);
  expect(state === "completed").to.equal(!needsAction && asksForAnything && settled);
  expect(waiting_on.length > 0, "it waits for something, unless it is done or was asked for nothing").to.equal(
    state !== "completed" && (asksForAnything ? !settled : required > 0),
  );
  for (const { subject } of waiting_on)
    expect([record.id, ...holding.map(({ id }) => id), ...live.map(({ id }) => id)]).to.include(subject);
}

/** Checks that no document or reference contradicts itself or its candidate (interface.md, States). */
function checkRecords({ documents, references, started_at }: CandidateRecord): void {
  const isStarted = started_at !== null;
  for (const { state, expires_on, rejection_reason, content } of documents) {
    expect(state).not.to.equal(isStarted ? "pending" : "requested");
    if (state === "accepted")
      expect(expires_on === null || expires_on >= TODAY, `accepted until ${expires_on}`).to.equal(true);
    if (state !== "rejected") expect(rejection_reason).to.equal(null);
    expect(content === null || content === CONTENT).to.equal(true);
  }
  for (const { state, received_at, requested_at } of references) {
    expect(state).not.to.equal(isStarted ? "not_requested" : "requested");
    expect(received_at !== null).to.equal(state === "received");
    if (state === "requested") expect(requested_at).not.to.equal(null);
    if (state === "not_requested") expect(requested_at).to.equal(null);
  }
}

describe("any sequence of edits", () => {
  it("keeps the state, the requirements and waiting_on consistent with the records", () => {
    const reached = new Set<string>();
    fc.assert(
      fc.property(fc.array(steps, { maxLength: 40 }), (sequence) => {
        let record = EMPTY;
        for (const [n, step] of sequence.entries()) {
          let next = record;
          try {
            next = step(record, n);
          } catch (error) {
            if (!(error instanceof Problem)) throw error;
            expect(error.status, error.message).to.be.oneOf([404, 409]);
          }
          checkRecords(next);
          check(next);
          reached.add(derive(next).state);
          record = next;
        }
      }),
      { numRuns: 1500 },
    );
    expect([...reached]).to.have.members([...CANDIDATE_STATES]);
  });
});
