import { expect } from "chai";
import { DOCUMENT_STATES } from "../../src/candidates/document-schema.ts";
import { REFERENCE_STATES } from "../../src/candidates/reference-schema.ts";
import type { Pack } from "../../src/pack/schema.ts";
import { AT, content, document, reference, sheet } from "./sheets.ts";

const THEN = "21 Nov 2026, 01:40:12\u00A0UTC";
const HISTORY = [
  ["added", THEN],
  ["changed", THEN],
];

describe("what the pack's PDF says", () => {
  it("about a candidate without any value", () => {
    const { words: _, ...rest } = sheet();
    expect(rest).to.deep.equal({
      lang: "en",
      title: "Compliance pack cand_1, version 7",
      made_at: AT,
      candidate: {
        name: "Candidate without a name",
        rows: [
          ["first_name", "—"],
          ["last_name", "—"],
          ["phone", "—"],
          ["job_title", "—"],
          ["start_date", "—"],
          ["added", THEN],
          ["started", "—"],
          ["state", "Created"],
        ],
        wide: [
          ["email", "—"],
          ["external_id", "—"],
          ["id", "cand_1"],
          ["made", "20 Nov 2026, 10:11:12\u00A0UTC"],
          ["made_for", "Hire & Co (acct_1)"],
        ],
        tables: [],
      },
      footer: "Compliance pack cand_1, version 7 · 20 Nov 2026, 10:11:12\u00A0UTC",
      complete: false,
      missing: [],
      documents: [],
      references: [],
      references_summary: "2 required, 1 received, 1 outstanding",
      decisions: [],
      messages: [],
      notices: [],
    });
  });

  it("about a candidate with every value", () => {
    const { candidate, missing, complete } = sheet({
      complete: true,
      missing: [{ code: "of_a_later_release", message: "Document “A” has\u0000 not arrived." }] as Pack["missing"],
      candidate: {
        name: "Ada Lovelace",
        first_name: "Augusta",
        last_name: "King",
        phone: "+4930123456",
        job_title: "Analyst",
        start_date: "2027-01-02",
        started_at: "2026-11-19T00:00:01.999Z",
        state: "action_required",
        state_reason: "Moved away",
        email: "ada@example.com",
        external_id: "ats-1",
        metadata: { cost_center: "4711" },
      },
    });
    expect({ missing, complete }).to.deep.equal({ missing: ["Document “A” has\uFFFD not arrived."], complete: true });
    expect(candidate).to.deep.equal({
      name: "Ada Lovelace",
      rows: [
        ["first_name", "Augusta"],
        ["last_name", "King"],
        ["phone", "+4930123456"],
        ["job_title", "Analyst"],
        ["start_date", "2 Jan 2027"],
        ["added", THEN],
        ["started", "19 Nov 2026, 00:00:01\u00A0UTC"],
        ["state", "Action required"],
      ],
      wide: [
        ["reason", "Moved away"],
        ["email", "ada@example.com"],
        ["external_id", "ats-1"],
        ["id", "cand_1"],
        ["made", "20 Nov 2026, 10:11:12\u00A0UTC"],
        ["made_for", "Hire & Co (acct_1)"],
      ],
      tables: [["Further details", [["cost_center", "4711"]]]],
    });
  });

  it("as the name of a candidate who has only parts of one", () => {
    const nameOf = (candidate: object) => sheet({ candidate }).candidate.name;
    expect(nameOf({ first_name: "Ada" })).to.equal("Ada");
    expect(nameOf({ first_name: "Ada", last_name: "King" })).to.equal("Ada King");
    expect(nameOf({ name: " " })).to.equal("Candidate without a name");
  });

  it("about documents", () => {
    const { documents } = sheet({
      documents: [
        document({ expires_on: "2030-01-01", content, metadata: { shelf: "B 12" } }),
        document({
          state: "rejected",
          required: false,
          rejection_reason: "Blurred",
          content: { ...content, filename: null },
        }),
        document(),
      ],
    });
    const type = ["content_type", "application/pdf"];
    expect(documents[0]).to.deep.equal({
      number: "1",
      name: "Passport",
      state: "document_accepted",
      tone: "settled",
      rows: [
        ["required", "Yes"],
        ["expires", "1 Jan 2030"],
        ["uploaded", "20 Nov 2026, 10:11:12\u00A0UTC"],
        ["size", "1 byte"],
      ],
      wide: [["filename", "p.pdf"], type, ["sha256", "ab"], ...HISTORY, ["id", "doc_1"]],
      tables: [["Further details", [["shelf", "B 12"]]]],
    });
    expect(documents[1]).to.deep.include({ number: "2", state: "document_rejected", tone: "trouble" });
    expect(documents[1]?.rows[0]).to.deep.equal(["required", "No"]);
    expect(documents[1]?.wide).to.deep.equal([
      ["rejection_reason", "Blurred"],
      type,
      ["sha256", "ab"],
      ...HISTORY,
      ["id", "doc_1"],
    ]);
    expect(documents[2]?.rows.slice(1)).to.deep.equal([
      ["expires", "—"],
      ["uploaded", "—"],
      ["size", "No file"],
    ]);
    expect(documents[2]?.wide).to.deep.equal([...HISTORY, ["id", "doc_1"]]);
  });

  it("about references", () => {
    const named = { name: "Ann", company: "C", job_title: "J", relationship: "R", email: "E", phone: "P" };
    const { references } = sheet({
      references: [
        reference(),
        reference({
          ...named,
          state: "received",
          requested_at: AT,
          received_at: AT,
          response: { a: { b: [true, null] } },
          chase: { attempts: 2, last_at: AT },
        }),
      ],
    });
    expect(references[0]).to.deep.include({
      number: "1",
      name: "Referee without a name",
      state: "reference_not_requested",
    });
    expect(references[1]).to.deep.equal({
      number: "2",
      name: "Ann",
      state: "reference_received",
      tone: "settled",
      rows: [
        ["company", "C"],
        ["job_title", "J"],
        ["relationship", "R"],
        ["phone", "P"],
        ["requested", "20 Nov 2026, 10:11:12\u00A0UTC"],
        ["received", "20 Nov 2026, 10:11:12\u00A0UTC"],
      ],
      wide: [["email", "E"], ...HISTORY, ["reminders", "2, last on 20 Nov 2026, 10:11:12 UTC"], ["id", "ref_1"]],
      tables: [
        [
          "Answered by Ann on 20 Nov 2026, 10:11:12 UTC",
          [
            ["a › b › 1", "Yes"],
            ["a › b › 2", "—"],
          ],
        ],
      ],
    });
  });

  it("instead of the answers beyond the first thousand", () => {
    const answers = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`q${n}`, n]));
    const last = (count: number) => {
      const made = sheet({ references: [reference({ response: answers(count) })] });
      return [made.references[0]?.tables[0]?.[1].at(-1)?.join(" "), made.notices[0]?.split(",")[0] ?? null];
    };
    const notice = "This PDF is abridged";
    expect(last(1000)).to.deep.equal(["q999 999", null]);
    expect(last(1001)).to.deep.equal(["[…] 1 more", notice]);
    expect(last(2500)).to.deep.equal(["[…] 1,500 more", notice]);
  });

  it("about sizes", () => {
    const sizeOf = (size: number) =>
      sheet({ documents: [document({ content: { ...content, size } })] }).documents[0]?.rows[3]?.[1];
    expect([0, 999, 1000, 1_250_000, 2_000_000_000].map(sizeOf)).to.deep.equal([
      "0 bytes",
      "999 bytes",
      "1.0 kB (1,000 bytes)",
      "1.3 MB (1,250,000 bytes)",
      "2.0 GB (2,000,000,000 bytes)",
    ]);
  });

  it("about each state, and how it is marked", () => {
    const { documents, references } = sheet({
      documents: DOCUMENT_STATES.map((state) => document({ state })),
      references: REFERENCE_STATES.map((state) => reference({ state })),
    });
    const marks = (items: typeof documents) => items.map(({ state, tone }) => `${state}: ${tone}`);
    expect(marks(documents)).to.deep.equal([
      "document_pending: open",
      "document_requested: open",
      "document_received: open",
      "document_accepted: settled",
      "document_rejected: trouble",
      "document_expired: trouble",
      "document_waived: aside",
      "document_cancelled: aside",
    ]);
    expect(marks(references)).to.deep.equal([
      "reference_not_requested: open",
      "reference_requested: open",
      "reference_received: settled",
      "reference_declined: trouble",
      "reference_bounced: trouble",
      "reference_unresponsive: trouble",
      "reference_waived: aside",
      "reference_cancelled: aside",
    ]);
  });
});
