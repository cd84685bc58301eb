import { DOCUMENT_STATES } from "../../src/candidates/document-schema.ts";
import { documentContradiction } from "../../src/candidates/moves.ts";
import type { DocumentRecord, ReferenceRecord } from "../../src/candidates/record.ts";
import { REFERENCE_STATES } from "../../src/candidates/reference-schema.ts";
import { derive } from "../../src/candidates/states.ts";
import { expect } from "chai";
import { candidateRecord, documentRecord, referenceRecord } from "../support/records.ts";

const document = (state: DocumentRecord["state"], more: Partial<DocumentRecord> = {}) =>
  documentRecord({ state, ...more });
const reference = (state: ReferenceRecord["state"], more: Partial<ReferenceRecord> = {}) =>
  referenceRecord({ email: "a@example.com", state, ...more });

function derived(documents: DocumentRecord[], references: ReferenceRecord[], more = {}) {
  return derive(candidateRecord({ started_at: "2026-01-01T00:00:00.000Z", documents, references, ...more }));
}

/** @returns the candidate's state, its reason and what it waits for, as short texts. */
function story(documents: DocumentRecord[], references: ReferenceRecord[], more = {}): string[] {
  const { state, state_reason, waiting_on } = derived(documents, references, more);
  return [`${state}: ${state_reason}`, ...waiting_on.map((each) => `${each.code} ${each.subject}: ${each.message}`)];
}

describe("What a candidate waits for", () => {
  it("follows from the state of its only document", () => {
    const stories = Object.fromEntries(DOCUMENT_STATES.map((state) => [state, story([document(state)], [])]));
    expect(stories).to.deep.equal({
      pending: ["in_progress: null"],
      requested: ["in_progress: null", 'document_requested doc_1: Document "CV" has not arrived'],
      received: ["in_progress: null", 'document_received doc_1: Document "CV" has arrived and is to be reviewed'],
      accepted: ["completed: null"],
      rejected: ['action_required: Document "CV" was rejected', 'document_rejected doc_1: Document "CV" was rejected'],
      expired: ['action_required: Document "CV" has expired', 'document_expired doc_1: Document "CV" has expired'],
      waived: ["in_progress: null"],
      cancelled: ["in_progress: null"],
    });
  });

  it("follows from the state of its only reference", () => {
    const stories = Object.fromEntries(REFERENCE_STATES.map((state) => [state, story([], [reference(state)])]));
    const bounced = "a@example.com cannot be reached: the message bounced";
    expect(stories).to.deep.equal({
      not_requested: ["in_progress: null"],
      requested: ["in_progress: null", "reference_requested ref_1: a@example.com has not answered"],
      received: ["completed: null"],
      declined: ["action_required: a@example.com has declined", "reference_declined ref_1: a@example.com has declined"],
      bounced: [`action_required: ${bounced}`, `reference_bounced ref_1: ${bounced}`],
      unresponsive: [
        "action_required: a@example.com does not respond",
        "reference_unresponsive ref_1: a@example.com does not respond",
      ],
      waived: ["in_progress: null"],
      cancelled: ["in_progress: null"],
    });
  });

  it("is nothing of a document that is not required", () => {
    for (const state of DOCUMENT_STATES)
      expect(derived([document(state, { required: false })], []).waiting_on, state).to.deep.equal([]);
    expect(derived([document("rejected", { required: false })], []).state).to.equal("completed");
  });

  it("includes an email address of each reference that has not answered", () => {
    for (const state of REFERENCE_STATES) {
      const codes = derived([], [reference(state, { email: null })]).waiting_on.map(({ code }) => code);
      const unanswered = state === "not_requested" || state === "requested";
      expect(codes.includes("reference_without_email"), state).to.equal(unanswered);
    }
  });

  it("begins with the start, goes on in the order of the records, and ends with the references that are missing", () => {
    const documents = [document("requested", { id: "doc_2", name: "ID" }), document("received")];
    const references = [reference("requested", { email: null })];
    expect(story(documents, references, { started_at: null, references_required: 3 })).to.deep.equal([
      "created: null",
      "not_started cand_1: The candidate has not been started",
      'document_requested doc_2: Document "ID" has not arrived',
      'document_received doc_1: Document "CV" has arrived and is to be reviewed',
      "reference_without_email ref_1: A referee without a name has no email address",
      "reference_requested ref_1: A referee without a name has not answered",
      "references_missing cand_1: 2 more references are needed",
    ]);
  });

  it("is nothing once it is withdrawn, and its reason is then that of the withdrawal", () => {
    const open = [[document("rejected")], [reference("bounced")]] as const;
    expect(story([...open[0]], [...open[1]], { withdrawn: true, withdrawal_reason: "Moved" })).to.deep.equal([
      "withdrawn: Moved",
    ]);
    expect(story([], [], { withdrawn: true, started_at: null })).to.deep.equal(["withdrawn: null"]);
  });

  it("gives the reason of the first that needs action, with the reason of its rejection", () => {
    const rejected = document("rejected", { rejection_reason: "blurred" });
    expect(derived([document("requested"), rejected], [reference("bounced")]).state_reason).to.equal(
      'Document "CV" was rejected: blurred',
    );
    const late = derived([document("expired", { rejection_reason: "blurred" })], []);
    expect(late.state_reason).to.equal('Document "CV" has expired');
  });

  it("keeps a candidate in progress as long as anything of it is open", () => {
    for (const item of [document("pending"), document("requested"), document("received")])
      expect(derived([document("accepted"), item], [reference("received")]).state, item.state).to.equal("in_progress");
    for (const state of ["not_requested", "requested"] as const) {
      const references = [reference("received"), reference(state)];
      expect(derived([document("accepted")], references, { references_required: 1 }).state, state).to.equal(
        "in_progress",
      );
    }
    expect(derived([], [], { references_required: 0 }).state).to.equal("in_progress");
    expect(derived([document("accepted")], [], { references_required: 1 }).state).to.equal("in_progress");
  });

  it("gives no reason while the candidate is not started", () => {
    const notStarted = derived([], [reference("bounced")], { started_at: null });
    expect(notStarted.waiting_on.map(({ code }) => code)).to.deep.equal(["not_started", "reference_bounced"]);
    expect(notStarted).to.include({ state: "created", state_reason: null });
  });

  it("may be accepted until the end of its expires_on, in UTC", () => {
    const at = (now: string) => documentContradiction("accepted", { started: true, expires_on: "2026-03-01", now });
    expect(at("2026-03-01T23:59:59.999Z")).to.equal(undefined);
    expect(at("2026-03-02T00:00:00.000Z")).to.match(/has passed/);
  });
});
