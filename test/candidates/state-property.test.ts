import { expect } from "chai";
import fc from "fast-check";
import { patched, started } from "../../src/candidates/edits.ts";
import {
  type CandidateRecord,
  type ContentRecord,
  type DocumentRecord,
  NEVER_CHASED,
} from "../../src/candidates/record.ts";
import { CANDIDATE_STATES } from "../../src/candidates/schema.ts";
import { derive } from "../../src/candidates/state.ts";
import { patchedDocument, withChanged, withContent, withDocument } from "../../src/candidates/document-edits.ts";
import { DOCUMENT_STATES, type DocumentState } from "../../src/candidates/document-schema.ts";
import { Problem } from "../../src/problems.ts";
import { patchedReference, withReference } from "../../src/candidates/reference-edits.ts";
import { REFERENCE_STATES, type ReferenceState } from "../../src/candidates/reference-schema.ts";
import { candidateRecord } from "../support/records.ts";

const NOW = "2026-11-21T12:00:00.000Z";
const CONTENT: ContentRecord = {
  file_id: "f",
  filename: null,
  content_type: "text/plain",
  size: 1,
  sha256: "00",
  uploaded_at: NOW,
};

/** Every transition that may ever be observed, including those by start and by content: interface.md, States. */
const DOCUMENT_EDGES: Record<DocumentState, DocumentState[]> = {
  pending: ["requested", "received", "waived", "cancelled"],
  requested: ["received", "waived", "cancelled"],
  received: ["accepted", "rejected", "waived", "cancelled"],
  rejected: ["requested", "received", "waived", "cancelled"],
  expired: ["requested", "received", "waived", "cancelled"],
  accepted: ["expired"],
  waived: [],
  cancelled: [],
};
const REFERENCE_EDGES: Record<ReferenceState, ReferenceState[]> = {
  not_requested: ["requested", "waived", "cancelled"],
  requested: ["received", "declined", "bounced", "unresponsive", "waived", "cancelled"],
  declined: ["requested", "waived", "cancelled"],
  bounced: ["requested", "waived", "cancelled"],
  unresponsive: ["requested", "waived", "cancelled"],
  received: [],
  waived: [],
  cancelled: [],
};

function newDocument(n: number, required: boolean, isStarted: boolean): DocumentRecord {
  const state = isStarted ? "requested" : "pending";
  const rest = {
    rejection_reason: null,
    expires_on: null,
    metadata: {},
    content: null,
    chase: NEVER_CHASED,
    created_at: NOW,
    updated_at: NOW,
  };
  return { id: `doc_${n}`, name: `d${n}`, state, required, ...rest };
}

const EMPTY = candidateRecord({ created_at: NOW, updated_at: NOW });

type Step = (record: CandidateRecord, n: number) => CandidateRecord;

const pick = fc.nat({ max: 5 });
const steps: fc.Arbitrary<Step> = fc.oneof(
  fc.constant<Step>((record) => started(record, NOW)),
  fc.boolean().map<Step>((withdrawn) => (record) => patched(record, { withdrawn })),
  fc
    .option(fc.nat({ max: 4 }))
    .map<Step>((references_required) => (record) => patched(record, { references_required })),
  fc
    .boolean()
    .map<Step>((required) => (record, n) => withDocument(record, newDocument(n, required, record.started_at !== null))),
  fc.tuple(pick, fc.constantFrom(...DOCUMENT_STATES)).map<Step>(
    ([at, state]) =>
      (record) =>
        withChanged(record, record.documents[at % record.documents.length]?.id ?? "none", (document) =>
          patchedDocument(document, { state }, NOW),
        ),
  ),
  pick.map<Step>(
    (at) => (record) =>
      withChanged(record, record.documents[at % record.documents.length]?.id ?? "none", (document) =>
        withContent(document, CONTENT, NOW),
      ),
  ),
  fc.constant<Step>((record, n) => withReference(record, {}, `ref_${n}`, NOW)),
  fc.tuple(pick, fc.constantFrom(...REFERENCE_STATES)).map<Step>(([at, state]) => (record) => ({
    ...record,
    references: record.references.map((reference, n) =>
      n === at % record.references.length ? patchedReference(reference, { state }, NOW) : reference,
    ),
  })),
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

/** Checks that every change of a document's or reference's state is a transition that interface.md lists. */
function checkTransitions(before: CandidateRecord, after: CandidateRecord): void {
  for (const { id, state } of before.documents) {
    const now = after.documents.find((document) => document.id === id)?.state;
    if (now !== state) expect(DOCUMENT_EDGES[state]).to.include(now);
  }
  for (const { id, state } of before.references) {
    const now = after.references.find((reference) => reference.id === id)?.state;
    if (now !== state) expect(REFERENCE_EDGES[state]).to.include(now);
  }
  expect(after.documents.length).to.be.at.least(before.documents.length);
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
          // The API refuses every other change of a withdrawn candidate; update.test.ts checks that.
          if (record.withdrawn && next.withdrawn) next = { ...record };
          checkTransitions(record, next);
          check(next);
          reached.add(derive(next).state);
          record = next;
        }
      }),
      { numRuns: 3000 },
    );
    expect([...reached]).to.have.members([...CANDIDATE_STATES]);
  });
});
