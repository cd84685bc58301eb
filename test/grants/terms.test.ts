import { expect } from "chai";
import type { GrantRecord } from "../../src/grants/store.ts";
import { checkedTerms, type GrantRequest, refuseOtherTerms } from "../../src/grants/terms.ts";
import { viewGrant } from "../../src/grants/view.ts";
import type { Grant } from "../../src/limiter/grant-counters.ts";
import { SURFACES } from "../../src/limiter/surfaces.ts";
import { Problem } from "../../src/problems.ts";

const REQUEST: GrantRequest = {
  keyId: "key_1",
  surface: "create",
  amount: 5,
  expiresInHours: 1,
  approvedBy: "Ann",
  reason: "backfill",
};
const TERMS = {
  key: "key_1",
  surface: "create",
  amount: 5,
  expires_in_hours: 1,
  approved_by: "Ann",
  reason: "backfill",
} as const;

/** Returns the one error of the problem `validation_failed` that `work` throws. */
function errorOf(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== "validation_failed") throw error;
    const { errors = [] } = error.extras as { errors?: { pointer: string; detail: string }[] };
    expect(error.message).to.equal(`${errors[0]?.pointer} ${errors[0]?.detail}.`);
    return errors.map(({ pointer, detail }) => `${pointer} ${detail}`).join(" and ");
  }
}

describe("the terms of a grant", () => {
  it("are what was asked for, without the id", () => {
    expect(checkedTerms(REQUEST)).to.deep.equal(TERMS);
    expect(checkedTerms({ ...REQUEST, id: "grant_1" })).to.deep.equal(TERMS);
  });

  const LIMITS: [field: keyof GrantRequest, accepted: unknown[], refused: unknown[], error: string][] = [
    ["surface", [...SURFACES], ["", "creates", "toString"], `/surface must be one of ${SURFACES.join(", ")}`],
    [
      "amount",
      [1, 10_000_000],
      [0, -1, 1.5, 10_000_001, NaN, Infinity],
      "/amount must be a whole number from 1 to 10000000",
    ],
    [
      "expiresInHours",
      [0.001, 2160],
      [0, -1, 2160.5, NaN, Infinity],
      "/expires_in_hours must be a number above 0 and at most 2160",
    ],
    [
      "id",
      ["grant_a", "grant_A-0_", `grant_${"a".repeat(64)}`],
      ["", "grant_", "a", "xgrant_a", "grant_a b", "grant_ä", `grant_${"a".repeat(65)}`],
      "/id must be grant_ followed by 1 to 64 letters, digits, hyphens or underscores",
    ],
    [
      "approvedBy",
      ["A", "😀".repeat(500)],
      ["", " ", "x".repeat(501), " ".repeat(501)],
      "/approved_by must have 1 to 500 characters and must not be blank",
    ],
    [
      "reason",
      ["A", "x".repeat(500)],
      ["", "\t", "😀".repeat(501)],
      "/reason must have 1 to 500 characters and must not be blank",
    ],
  ];
  for (const [field, accepted, refused, error] of LIMITS) {
    it(`have limits: ${field}`, () => {
      const check = (value: unknown) => errorOf(() => checkedTerms({ ...REQUEST, [field]: value }));
      for (const value of accepted) expect(check(value), String(value)).to.be.an("object");
      for (const value of refused) expect(check(value), String(value)).to.equal(error);
    });
  }

  it("may be repeated, and all that differ are named if they are not", () => {
    const existing = { _id: "grant_1", ...TERMS };
    expect(refuseOtherTerms(existing, TERMS)).to.equal(undefined);
    expect(errorOf(() => refuseOtherTerms(existing, { ...TERMS, amount: 6, reason: "other" }))).to.equal(
      '/id is taken: the grant grant_1 has amount 5, reason "backfill". Repeat its terms, or choose another id',
    );
  });
});

describe("a grant as operators see it", () => {
  const [BEFORE, END] = ["2026-11-22T09:59:59.999Z", "2026-11-22T10:00:00.000Z"];
  const record: GrantRecord = {
    _id: "grant_1",
    account: "acct_1",
    ...TERMS,
    expires_at: END,
    created_at: "2026-11-22T09:00:00.000Z",
    revoked_at: null,
    step: "issued",
  };
  const counted = (remaining: number): Grant => ({
    id: "grant_1",
    surface: "create",
    remaining,
    amount: 5,
    expiresAtMs: Date.parse(END),
  });

  it("has its terms and what remains of it", () => {
    expect(viewGrant(record, counted(3), BEFORE)).to.deep.equal({
      object: "grant",
      id: "grant_1",
      account_id: "acct_1",
      key_id: "key_1",
      surface: "create",
      amount: 5,
      remaining: 3,
      status: "live",
      expires_at: END,
      approved_by: "Ann",
      reason: "backfill",
      created_at: "2026-11-22T09:00:00.000Z",
      revoked_at: null,
    });
  });

  it("has the first status that is true of it: revoked, expired, pending, lost, exhausted, live", () => {
    const revoked = { ...record, revoked_at: BEFORE };
    const STATUSES: [GrantRecord, Grant | undefined, now: string, status: string, remaining: number | null][] = [
      [record, counted(1), BEFORE, "live", 1],
      [record, counted(0), BEFORE, "exhausted", 0],
      [record, undefined, BEFORE, "lost", null],
      [record, counted(1), END, "expired", 1],
      [record, undefined, END, "expired", null],
      [{ ...record, step: "recorded" }, undefined, BEFORE, "pending", null],
      [{ ...record, step: "placed" }, counted(0), BEFORE, "pending", null],
      [{ ...record, step: "placed" }, counted(0), END, "expired", null],
      [revoked, undefined, BEFORE, "revoked", null],
      [revoked, undefined, END, "revoked", null],
    ];
    for (const [of, inRedis, now, status, remaining] of STATUSES) {
      const view = viewGrant(of, inRedis, now);
      expect([view.status, view.remaining], `${of.step} ${now}`).to.deep.equal([status, remaining]);
    }
  });
});
