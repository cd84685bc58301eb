import { expect } from "chai";
import type { AuditEvent } from "../../src/audit/entry.ts";
import { auditedReads } from "../../src/audit/reads.ts";
import { createLog } from "../../src/infra/log.ts";
import { until } from "../erasure/support.ts";

describe("reads for the audit", () => {
  const caller = { accountId: "acct_1", keyId: "key_1" };
  const read = (n: number) => ({ action: "document.read", candidate: "cand_1", subject: `doc_${n}` }) as const;

  /** Reads for a store that fails while `isDown`. */
  function opened() {
    const state = { isDown: false, now: Date.parse("2026-11-21T10:00:00Z") };
    const batches: (readonly AuditEvent[])[] = [];
    const warnings: { reads?: number }[] = [];
    const append = async (events: readonly AuditEvent[]) => {
      if (state.isDown) throw new Error("Down.");
      batches.push(events);
    };
    const log = createLog("warn", { write: (line) => void warnings.push(JSON.parse(line) as { reads?: number }) });
    const reads = auditedReads({ append }, { now: () => state.now }, log);
    return { state, batches, warnings, reads };
  }

  it("are written in batches, once an hour each", async () => {
    const { state, batches, reads } = opened();
    for (let n = 0; n < 1_100; n++) reads.note(caller, read(n));
    reads.note(caller, read(7));
    await reads.stop(5_000);
    expect(batches.map(({ length }) => length)).to.deep.equal([500, 500, 100]);
    state.now += 3_600_000;
    reads.note(caller, read(7));
    await reads.stop(5_000);
    const [again] = batches.at(-1)!;
    const first = batches[0]![7]!;
    expect(again!._id).to.not.equal(first._id);
    expect({ ...again, details: {}, _id: "" }).to.deep.equal({ ...first, details: {}, _id: "" });
  });

  it("have the same id in every process", async () => {
    const [one, other] = [opened(), opened()];
    for (const { reads } of [one, other]) {
      reads.note(caller, read(1));
      await reads.stop(5_000);
    }
    expect(one.batches).to.deep.equal(other.batches);
  });

  it("wait while the store is down, up to a number, and then say how many are missing", async () => {
    const { state, batches, warnings, reads } = opened();
    state.isDown = true;
    for (let n = 0; n < 10_005; n++) reads.note(caller, read(n));
    expect(warnings).to.have.length(1);
    await reads.stop(200);
    expect(batches).to.deep.equal([]);
    state.isDown = false;
    await reads.stop(20_000);
    await until(() => warnings.length > 1);
    expect(batches.flat()).to.have.length(10_000);
    expect(warnings[1]).to.include({ reads: 5 });
  });
});
