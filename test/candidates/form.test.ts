import { readFileSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { DOCUMENT_STATES } from "../../src/candidates/document-schema.ts";
import { renderPage } from "../../src/candidates/page.ts";
import type { CandidateRecord } from "../../src/candidates/record.ts";
import { REFERENCE_STATES } from "../../src/candidates/reference-schema.ts";
import { jsonOf, LIST_FORM, storedRow } from "../../src/candidates/row.ts";
import { candidateRecord } from "../support/records.ts";

const SNAPSHOT = new URL("form.snapshot.json", import.meta.url);
const THEN = "2026-11-21T01:40:12.345Z";

/** A candidate with every member that the list can show. */
const RICH: CandidateRecord = candidateRecord({
  version: 7,
  pack_version: 3,
  external_id: "ats-4711",
  name: "Ada Lovelace",
  first_name: "Ada",
  last_name: "Lovelace",
  email: "ada@example.com",
  phone: "+14155550123",
  job_title: "Analyst",
  start_date: "2027-01-04",
  metadata: { "team.lead": "Charles", $cost: "12" },
  references_required: 1,
  withdrawal_reason: "moved",
  withdrawn: true,
  started_at: THEN,
  documents: [
    {
      id: "doc_1",
      name: "Passport",
      state: "rejected",
      required: true,
      rejection_reason: "blurred",
      expires_on: "2030-01-01",
      metadata: { place: "London" },
      content: {
        file_id: "f".repeat(24),
        filename: "passport.pdf",
        content_type: "application/pdf",
        size: 12,
        sha256: "0".repeat(64),
        uploaded_at: THEN,
      },
      chase: { attempts: 2, last_at: THEN },
      created_at: THEN,
      updated_at: THEN,
    },
  ],
  references: [
    {
      id: "ref_1",
      name: "Charles",
      email: "charles@example.com",
      phone: null,
      company: "Difference Engines",
      job_title: "Engineer",
      relationship: "Manager",
      state: "received",
      response: { fit: "yes" },
      metadata: {},
      chase: { attempts: 0, last_at: null },
      requested_at: THEN,
      received_at: THEN,
      created_at: THEN,
      updated_at: THEN,
    },
  ],
  removed: [{ id: "doc_0", at: THEN }],
});

const [DOCUMENT, REFERENCE] = [RICH.documents[0]!, RICH.references[0]!];
const started = { started_at: THEN };
/** Candidates in every state, with documents and references in every state. */
const RECORDS: CandidateRecord[] = [
  RICH,
  candidateRecord(),
  candidateRecord({ ...started, references_required: 1 }),
  candidateRecord({
    ...started,
    documents: [{ ...DOCUMENT, state: "requested", rejection_reason: null, content: null }],
  }),
  candidateRecord({ ...started, references: [REFERENCE, { ...REFERENCE, state: "requested", email: null }] }),
  candidateRecord({ ...started, documents: [{ ...DOCUMENT, state: "accepted" }], references: [REFERENCE] }),
  candidateRecord({
    ...started,
    references_required: 20,
    documents: DOCUMENT_STATES.map((state, n) => ({ ...DOCUMENT, id: `doc_${n}`, state })),
    references: REFERENCE_STATES.map((state, n) => ({ ...REFERENCE, id: `ref_${n}`, state })),
  }),
];

/** What the list shows of them, and of a deleted candidate. */
function shown(): string[] {
  const rows = RECORDS.map((record) => storedRow(record).row.json);
  const deleted = jsonOf({ _id: "cand_2", change: "2", version: 4, updated_at: THEN, deleted: true });
  const page = { rows: [{ change: "2", version: 4, json: deleted }], more: true };
  return [...rows, renderPage(page, "MTc4").body.toString()];
}

interface Snapshot {
  readonly form: number;
  readonly shown: readonly string[];
}

describe("the form of the rows that are stored with candidates", () => {
  it("has a new number if the list shows anything in another way (UPDATE_SNAPSHOT=1 accepts a new number)", () => {
    let snapshot = JSON.parse(readFileSync(SNAPSHOT, "utf8")) as Snapshot;
    if (process.env.UPDATE_SNAPSHOT && snapshot.form !== LIST_FORM) {
      snapshot = { form: LIST_FORM, shown: shown() };
      writeFileSync(SNAPSHOT, JSON.stringify(snapshot, null, 2));
    }
    expect(LIST_FORM).to.equal(snapshot.form);
    expect(shown(), "raise LIST_FORM in src/candidates/row.ts").to.deep.equal(snapshot.shown);
  });
});
