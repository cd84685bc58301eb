import { expect } from "chai";
import { documentContradiction } from "../../src/candidates/document-state.ts";
import type { DocumentRecord, ReferenceRecord } from "../../src/candidates/record.ts";
import { NO_OUTREACH } from "../../src/candidates/planned.ts";
import { derive } from "../../src/candidates/state.ts";

const document = (state: DocumentRecord["state"], more: Partial<DocumentRecord> = {}) =>
  ({ id: "doc_1", name: "CV", state, required: true, rejection_reason: null, ...more }) as DocumentRecord;
const reference = (state: ReferenceRecord["state"], more: Partial<ReferenceRecord> = {}) =>
  ({ id: "ref_1", relationship: null, email: "a@example.com", state, ...more }) as ReferenceRecord;

function derived(documents: DocumentRecord[], references: ReferenceRecord[], more = {}) {
  return derive({
    id: "cand_1",
    email: null,
    outreach: NO_OUTREACH,
    started_at: "2026-01-01T00:00:00.000Z",
    withdrawn: false,
    withdrawal_reason: null,
    references_required: null,
    documents,
    references,
    ...more,
  });
}

describe("a candidate's state", () => {
  const CASES: [string, string, ReturnType<typeof derived>][] = [
    ["created until started", "created", derived([], [], { started_at: null })],
    ["in progress if nothing was asked for", "in_progress", derived([], [])],
    ["in progress while a document is requested", "in_progress", derived([document("requested")], [])],
    ["in progress while a document waits for its review", "in_progress", derived([document("received")], [])],
    ["action_required if a document is rejected", "action_required", derived([document("rejected")], [])],
    [
      "action_required if a reference has bounced",
      "action_required",
      derived([document("accepted")], [reference("bounced")]),
    ],
    [
      "completed although an optional document is rejected",
      "completed",
      derived([document("accepted"), document("rejected", { required: false })], []),
    ],
    [
      "completed if everything is settled",
      "completed",
      derived([document("accepted"), document("waived")], [reference("received")]),
    ],
    [
      "in progress while more references are required than there are",
      "in_progress",
      derived([], [reference("received")], { references_required: 2 }),
    ],
    [
      "in progress if everything was waived or cancelled",
      "in_progress",
      derived([document("waived")], [reference("cancelled")]),
    ],
    [
      "completed although a cancelled document and a waived reference are not settled",
      "completed",
      derived([document("accepted"), document("cancelled")], [reference("waived"), reference("received")]),
    ],
    [
      "completed if more references are received than are required",
      "completed",
      derived([], [reference("received"), reference("received")], { references_required: 1 }),
    ],
    [
      "withdrawn while it is withdrawn, whatever its documents say",
      "withdrawn",
      derived([document("rejected")], [], { withdrawn: true, withdrawal_reason: "Moved" }),
    ],
  ];
  for (const [what, state, actual] of CASES) it(`is ${what}`, () => expect(actual.state).to.equal(state));

  it("counts only live references, and what is outstanding never below 0", () => {
    expect(derived([], [reference("waived"), reference("received")]).reference_requirements).to.deep.equal({
      required: 1,
      received: 1,
      outstanding: 0,
    });
    const more = derived([], [reference("received"), reference("received")], { references_required: 1 });
    expect(more.reference_requirements).to.deep.equal({ required: 1, received: 2, outstanding: 0 });
  });

  it("has a reason only while it is withdrawn or needs action", () => {
    const notStarted = derived([], [reference("bounced")], { started_at: null });
    expect(notStarted.waiting_on.map(({ code }) => code)).to.deep.equal(["not_started", "reference_bounced"]);
    expect(notStarted).to.include({ state: "created", state_reason: null });
  });

  it("waits for an email address only of a reference that has not answered", () => {
    const without = (state: ReferenceRecord["state"]) =>
      derived([], [reference(state, { email: null })], { references_required: 2 }).waiting_on.map(({ code }) => code);
    expect(without("requested")).to.include("reference_without_email");
    expect(without("received")).to.deep.equal(["references_missing"]);
  });

  it("can have an accepted document until the end of its expires_on, in UTC", () => {
    const at = (now: string) => documentContradiction("accepted", { started: true, expires_on: "2026-03-01", now });
    expect(at("2026-03-01T23:59:59.999Z")).to.equal(undefined);
    expect(at("2026-03-02T00:00:00.000Z")).to.match(/has passed/);
  });

  it("says how many more references are needed, also if it is one", () => {
    const texts = (references_required: number) =>
      derived([], [reference("received")], { references_required }).waiting_on.map(({ message }) => message);
    expect(texts(1)).to.deep.equal([]);
    expect(texts(2)).to.deep.equal(["1 more reference is needed"]);
    expect(texts(3)).to.deep.equal(["2 more references are needed"]);
  });

  it("distinguishes a candidate without references from one whose references are outstanding or received", () => {
    expect(derived([], []).reference_requirements).to.deep.equal({ required: 0, received: 0, outstanding: 0 });
    expect(derived([], [reference("requested")]).reference_requirements).to.deep.equal({
      required: 1,
      received: 0,
      outstanding: 1,
    });
    expect(derived([], [reference("received")]).reference_requirements).to.deep.equal({
      required: 1,
      received: 1,
      outstanding: 0,
    });
  });

  it("says in a recruiter's words what the candidate is waiting for", () => {
    const { waiting_on, state_reason } = derived(
      [document("rejected", { rejection_reason: "blurred" })],
      [reference("requested", { email: null })],
    );
    expect(waiting_on.map(({ message }) => message)).to.deep.equal([
      'Document "CV" was rejected: blurred',
      "Reference ref_1 has no email address",
      "Reference ref_1 has not answered",
    ]);
    expect(state_reason).to.equal('Document "CV" was rejected: blurred');
  });
});
