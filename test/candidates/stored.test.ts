import { BSON } from "mongodb";
import { expect } from "chai";
import type { CandidateRecord, ReferenceRecord } from "../../src/candidates/record.ts";
import { NO_OUTREACH } from "../../src/candidates/planned.ts";
import { renderCandidate } from "../../src/candidates/render.ts";
import { jsonOf, LIST_FORM } from "../../src/candidates/row.ts";
import {
  checkSize,
  decode,
  decodeTombstone,
  encode,
  encodeTombstone,
  feedPosition,
} from "../../src/candidates/stored.ts";
import type { Tombstone } from "../../src/candidates/tombstone.ts";
import { firstVersion } from "../../src/candidates/version.ts";
import { candidateWithExpiry } from "../sweeps/support.ts";

const AT = 1_767_225_600_000;
const ERASURE = { at: "2026-01-02T00:00:00.000Z", deletions: [], files: ["file_1"], references: [] };
const record = (more: Partial<CandidateRecord> = {}): CandidateRecord => ({
  ...firstVersion(candidateWithExpiry("acct_1", "2090-01-31"), AT),
  id: "cand_1",
  ...more,
});

describe("A place in the feed", () => {
  it("is the time with 15 digits, and never before the year 1970", () => {
    expect(feedPosition(AT)).to.equal("001767225600000");
    expect(feedPosition(0)).to.equal("000000000000000");
    expect(feedPosition(-1)).to.equal("000000000000000");
  });
});

describe("A stored candidate", () => {
  it("is read back as it was, and lists only deletions that there were", () => {
    const removed = [{ id: "doc_9", at: "2026-01-02T00:00:00.000Z" }];
    const answer = { id: "ref_1", metadata: { "a.b": "c" }, response: { $set: [1] } } as unknown as ReferenceRecord;
    const references = [answer, { ...answer, id: "ref_2", response: null }];
    for (const more of [{}, { removed }, { erasure: ERASURE }, { metadata: { "$a.b": "\u0000" } }, { references }]) {
      const before = record(more);
      const stored = encode(before, AT);
      expect(decode(stored)).to.deep.equal(before);
      expect(encode(decode(stored), AT)).to.deep.equal(stored);
      expect(["removed" in stored, "erasure" in stored]).to.deep.equal(["removed" in more, "erasure" in more]);
      expect(decodeTombstone(stored)).to.equal(undefined);
    }
  });

  it("has its place, its next expiry, its size without its row, and its row", () => {
    const reference = {
      id: "ref_1",
      metadata: {},
      response: { $a: 1 },
      state: "received",
    } as unknown as ReferenceRecord;
    const before = record();
    const { row, row_form, row_version, ...rest } = encode(before, AT);
    expect(rest).to.include({ _id: "cand_1", account: "acct_1", change: "001767225600000.cand_1", metadata: "{}" });
    expect(encode(record({ references: [reference] }), AT).references).to.deep.equal([
      { ...reference, metadata: "{}", response: '{"$a":1}' },
    ]);
    expect(rest.next_expiry).to.equal("2090-01-31");
    expect(rest).to.not.have.any.keys("id", "accountId");
    expect(rest.size).to.equal(BSON.calculateObjectSize(rest));
    expect([row_form, row_version]).to.deep.equal([LIST_FORM, before.version]);
    expect(row?.json).to.equal(JSON.stringify(renderCandidate(before)));
  });

  it("shows its row only in the present form and of the present version", () => {
    const json = Buffer.from("{}");
    const source = {
      _id: "cand_1",
      change: "1",
      version: 2,
      updated_at: "now",
      row_form: LIST_FORM,
      row_version: 2,
      json,
    };
    expect(jsonOf(source)).to.equal(json);
    expect(jsonOf({ ...source, row_form: LIST_FORM - 1 })).to.equal(undefined);
    expect(jsonOf({ ...source, row_version: 1 })).to.equal(undefined);
    expect(jsonOf({ ...source, json: undefined })).to.equal(undefined);
    expect(JSON.parse(Buffer.from(jsonOf({ ...source, deleted: true })!).toString())).to.deep.equal({
      object: "candidate",
      id: "cand_1",
      deleted: true,
      version: 2,
      updated_at: "now",
    });
  });
});

describe("The size of a stored candidate", () => {
  const unplanned = { outreach: NO_OUTREACH, state: "action_required" as const };
  const bare = encode(record({ name: "", ...unplanned }), AT).size;
  const sized = (bytes: number) => record({ name: "x".repeat(bytes - bare), ...unplanned });
  const rows = 256 * 1024;
  const max = 2 * 1024 * 1024;
  const refused = `The candidate's record would have more than ${max} bytes. Send less data.`;

  it("leaves out the row above 256 KiB", () => {
    expect(encode(sized(rows), AT)).to.include({ size: rows, row_version: 1 });
    expect(encode(sized(rows + 1), AT)).to.not.have.any.keys("row", "row_form", "row_version");
  });

  it("is at most 2 MiB", () => {
    expect(encode(sized(max), AT).size).to.equal(max);
    checkSize(sized(max), AT);
    for (const check of [encode, checkSize])
      expect(() => check(sized(max + 1), AT))
        .to.throw(refused)
        .that.includes({ code: "payload_too_large" });
    expect(() => encode(sized(max + 1), AT, sized(max))).to.throw(refused);
  });

  it("is not limited for the chase: what that stores does not count", () => {
    const full = sized(max);
    const last = {
      message_id: "1@example.com",
      at: "2026-01-02T00:00:00.000Z",
      documents: [],
      tries: 1,
      address: "x",
      refusals: 0,
    };
    const chased = {
      ...full,
      documents: full.documents.map((document) => ({ ...document, chase: { attempts: 3, last_at: last.at } })),
      outreach: {
        ...NO_OUTREACH,
        reason: "cap_reached" as const,
        recipients: [{ to: "candidate", last: { ...last, retry_at: null }, bounced: "a@b.de" }],
        opted_out: ["x".repeat(43)],
      },
    };
    expect(encode(chased, AT, full).size).to.be.above(max);
    expect(() => encode({ ...chased, name: `${full.name}x` }, AT, chased)).to.throw(refused);
  });

  it("does not grow if it is above 2 MiB already", () => {
    const before = sized(max + 10);
    expect(encode(sized(max + 10), AT, before).size).to.equal(max + 10);
    expect(encode(sized(max + 9), AT, before).size).to.equal(max + 9);
    expect(() => encode(sized(max + 11), AT, before)).to.throw(refused);
  });
});

describe("A stored tombstone", () => {
  const tombstone: Tombstone = {
    deleted: true,
    id: "cand_1",
    accountId: "acct_1",
    version: 8,
    updated_at: "2026-01-02T00:00:00.000Z",
    erasure: ERASURE,
  };

  it("is read back as it was, and has no personal data", () => {
    expect(decodeTombstone(encodeTombstone(tombstone, AT))).to.deep.equal(tombstone);
    const erased = { ...tombstone, erasure: null };
    expect(decodeTombstone(encodeTombstone(erased, AT))).to.deep.equal(erased);
    const { size, ...stored } = encodeTombstone(erased, AT);
    expect(stored).to.deep.equal({
      _id: "cand_1",
      account: "acct_1",
      change: "001767225600000.cand_1",
      state: "deleted",
      deleted: true,
      version: 8,
      updated_at: tombstone.updated_at,
      created_at: tombstone.updated_at,
      pack_version: 1,
      external_id: null,
      name: null,
      first_name: null,
      last_name: null,
      email: null,
      phone: null,
      job_title: null,
      start_date: null,
      metadata: "{}",
      docs_chase_attempts: 0,
      reference_chase_attempts: 0,
      references_required: null,
      withdrawn: false,
      withdrawal_reason: null,
      documents: [],
      references: [],
      started_at: null,
      next_expiry: null,
    });
    expect(size).to.equal(BSON.calculateObjectSize({ ...stored, size: 0 }));
  });
});
