import { noMail } from "../../src/candidates/outreach.ts";
import { checkNotRemoved, withoutPart } from "../../src/candidates/parts.ts";
import { firstVersion, nextRecord, nextVersion } from "../../src/candidates/version.ts";
import type { CandidateRecord, DocumentRecord, Draft, ReferenceRecord } from "../../src/candidates/record.ts";
import { renderTombstone, tombstoneOf } from "../../src/candidates/erasure.ts";
import { expect } from "chai";
import { author, contentRecord, documentRecord, referenceRecord } from "../support/records.ts";

const { by } = author();
const AT = Date.parse("2026-03-02T00:00:00.000Z");
const DAY_AND_HOUR = 25 * 60 * 60 * 1000;

const document = documentRecord({ state: "requested", content: contentRecord() });
const reference = referenceRecord({ state: "requested" });
const draft = {
  id: "cand_1",
  accountId: "acct_1",
  pack_version: 4,
  name: "Ada",
  metadata: { a: "b" },
  docs_chase_attempts: 1,
  reference_chase_attempts: 1,
  references_required: null,
  withdrawn: false,
  withdrawal_reason: null,
  documents: [document],
  references: [reference],
  removed: [],
  erasure: null,
  started_at: null,
} as unknown as Draft;

const POSITION = { at: AT, now: AT };

describe("A version of a candidate", () => {
  const first = firstVersion(draft, by, AT - 1000);

  it("is the first with the time at which it was made", () => {
    const at = "2026-03-01T23:59:59.000Z";
    const outreach = {
      next_at: null,
      reason: "not_started",
      look_at: null,
      rules: null,
      chases: [],
      recipients: [],
      opted_out: [],
    };
    const facts = { version: 1, state: "created", outreach, created_at: at, updated_at: at };
    const history = { moved: 0, count: 1, lines: first.history.lines };
    const retention = { version: 1, since: at, active_at: at, erases_at: null };
    expect(first).to.deep.equal({ ...draft, ...facts, decisions: {}, history, retention });
  });

  it("follows another with a new time and a new state, and keeps the time of the first", () => {
    const started = nextRecord(first, { ...first, started_at: "2026-03-02T00:00:00.000Z" }, by, POSITION, noMail);
    expect(started).to.deep.equal({
      ...first,
      started_at: "2026-03-02T00:00:00.000Z",
      version: 2,
      pack_version: 5,
      state: "in_progress",
      outreach: { ...first.outreach, reason: "disabled" },
      history: { moved: 0, count: 2, lines: started.history.lines },
      retention: {
        version: 2,
        since: "2026-03-02T00:00:00.000Z",
        active_at: "2026-03-02T00:00:00.000Z",
        erases_at: null,
      },
      updated_at: "2026-03-02T00:00:00.000Z",
    });
  });

  it("keeps nothing of a recipient whose reference is deleted, and no hold that is over", () => {
    const [kept] = first.references as [ReferenceRecord];
    const recipient = { last: null, bounced: null };
    const held = { until: new Date(AT).toISOString(), budget: null };
    const outreach = {
      ...first.outreach,
      recipients: [
        { ...recipient, to: kept.id, held },
        { ...recipient, to: "ref_deleted" },
      ],
    };
    const next = nextRecord(first, { ...first, outreach }, by, POSITION, noMail);
    expect(next.outreach.recipients).to.deep.equal([{ ...recipient, to: kept.id, held: null }]);
  });

  it("has a new number of its pack only if the pack shows something else", () => {
    const packOf = (more: Partial<CandidateRecord>) =>
      nextRecord(first, { ...first, ...more }, by, POSITION, noMail).pack_version;
    const [one] = first.documents as [DocumentRecord];
    const [other] = first.references as [ReferenceRecord];
    const unseen: Partial<CandidateRecord>[] = [
      {},
      {
        outreach: {
          ...first.outreach,
          recipients: [{ to: "candidate", last: null, bounced: null }],
        },
      },
      { removed: [{ id: "doc_2", at: "x" }] },
      { erasure: { at: "x", deletions: [], files: [], references: [] } },
      { documents: [{ ...one }], references: [{ ...other }] },
    ];
    for (const more of unseen) expect(packOf(more), JSON.stringify(more)).to.equal(4);
    const shown: Partial<CandidateRecord>[] = [
      { name: "Bea" },
      { docs_chase_attempts: 9 },
      { outreach_enabled: false },
      { hold: { reason: "x" } },
      { metadata: { source: "referral" } },
      { withdrawn: true },
      { documents: [] },
      { documents: [one, one] },
      { documents: [{ ...one, name: "ID" }] },
      { references: [] },
      { references: [other, other] },
      { references: [{ ...other, email: "a@example.com" }] },
    ];
    for (const more of shown) expect(packOf(more), JSON.stringify(more)).to.equal(5);
    const before = { ...first, email: null, withdrawn: true, references: [{ ...other, email: "a@example.com" }] };
    const after = { ...before, outreach: { ...before.outreach, opted_out: ["a@example.com"] } };
    expect(nextRecord(before, after, by, POSITION, noMail).pack_version, "who does not want messages").to.equal(5);
  });
});

describe("A deletion", () => {
  const at = new Date(AT).toISOString();
  const before = { at: "before", deletions: [{ kind: "documents", id: "doc_0", key: "key_0", at: "before" }] } as const;
  const record: CandidateRecord = firstVersion(draft, by, AT - 1000);

  it("of a candidate leaves a tombstone that lists its files and its references after what is still to be removed", () => {
    const empty = { ...document, content: null };
    const erasing = {
      ...record,
      documents: [empty, ...record.documents],
      erasure: { ...before, files: ["file_0"], references: ["ref_0"] },
    };
    const deletion = { kind: "candidates", id: "cand_1", key: "key_1", at };
    const tombstone = tombstoneOf(erasing, { key: "key_1", at });
    expect(tombstone).to.deep.equal({
      deleted: true,
      id: "cand_1",
      accountId: "acct_1",
      version: 2,
      updated_at: at,
      erasure: {
        at,
        deletions: [...before.deletions, deletion],
        files: ["file_0", "file_1"],
        references: ["ref_0", "ref_1"],
      },
    });
    expect(nextVersion(tombstone, { ...tombstone }, by, POSITION, noMail)).to.deep.equal({
      ...tombstone,
      version: 3,
      updated_at: new Date(AT).toISOString(),
    });
    expect(renderTombstone(tombstone)).to.deep.equal({
      object: "candidate",
      id: "cand_1",
      deleted: true,
      version: 2,
      updated_at: at,
    });
  });

  it("of a part is remembered for 25 hours, and its id is refused as long", () => {
    const lately = (age: number) => ({ id: `doc_${age}`, at: new Date(AT - age).toISOString() });
    const removed = [DAY_AND_HOUR + 1, DAY_AND_HOUR, DAY_AND_HOUR - 1, 0].map(lately);
    const deletion = { kind: "references", id: "ref_1", key: "key_1", at };
    const after = withoutPart({ ...record, removed }, "references", "ref_1", { key: "key_1", at });
    expect(after).to.deep.include({
      removed: [...removed.slice(2), { id: "ref_1", at }],
      erasure: { at, deletions: [deletion], files: [], references: ["ref_1"] },
    });
    checkNotRemoved(after, "doc_1");
    expect(() => checkNotRemoved(after, "ref_1")).to.throw(
      "This request has already added ref_1, which was deleted since. To add it again, use a new Idempotency-Key.",
    );
  });
});
