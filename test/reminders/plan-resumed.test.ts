import { deferred, reminded } from "../../src/reminders/edits.ts";
import { planOf } from "../../src/reminders/plan.ts";
import { withOutreach } from "../../src/candidates/edits.ts";
import { optedOut } from "../../src/candidates/outreach.ts";
import type { CandidateRecord } from "../../src/candidates/record.ts";
import { expect } from "chai";
import {
  HOUR,
  iso,
  next,
  nothing,
  planned,
  requestedDocument,
  requestedReference,
  rules,
  RULES,
  sent,
  START,
  startedCandidate,
} from "./support.ts";

const documents = [requestedDocument("doc_1"), requestedDocument("doc_2")];
const references = [requestedReference("ref_1"), requestedReference("ref_2")];

describe("The plan of reminders", () => {
  describe("that were turned off", () => {
    const turned = (record: CandidateRecord, on: boolean, hours: number, by = RULES) =>
      next(record, withOutreach(record, { outreach_enabled: on }, iso(START + hours * HOUR)), START + hours * HOUR, by);
    const off = (record: CandidateRecord, hours: number) => turned(record, false, hours);
    const on = (record: CandidateRecord, hours: number, by = RULES) => turned(record, true, hours, by);

    it("is looked at by nobody, and no reference lapses", () => {
      const capped = { ...startedCandidate({ references }), reference_chase_attempts: 1 };
      const { outreach } = off(sent(capped, 0), 1);
      expect(outreach).to.include({ next_at: null, reason: "disabled", look_at: null });
      expect(planned(off(sent(capped, 0), 1), 1_000)).to.deep.equal(nothing("disabled"));
      expect(off(startedCandidate({ documents }, rules(48, {}, { enabled: false })), 1).outreach.look_at).to.equal(
        null,
      );
    });

    it("begins when they are turned on, with one message each and not for the past", () => {
      const record = on(off(startedCandidate({ documents, references }), 0), 500);
      expect(planned(record, 500).messages).to.deep.equal([
        ["candidate", "doc_1", "doc_2", 500],
        ["ref_1", 500],
        ["ref_2", 500],
      ]);
      const once = sent(record, 500);
      expect(planned(once, 500).next).to.equal(548);
      expect([...once.documents, ...once.references].map(({ chase }) => chase.attempts)).to.deep.equal([1, 1, 1, 1]);
      const restored = { ...RULES, restored: { at: START + 400 * HOUR, overdue: "hold" as const } };
      expect(planned(record, 500, restored), "it is not overdue").to.include({ next: 500, reason: null });
      const quiet = rules(48, { enabled: true, timezone: "UTC", start: "05:00", end: "07:00" });
      expect(planned(on(off(record, 499), 500, quiet), 500, quiet).next, "06:00 is quiet").to.equal(501);
    });

    it("is now after a restore too, for those who were overdue and are skipped", () => {
      const skip = { ...RULES, restored: { at: START + 490 * HOUR, overdue: "skip" as const } };
      const record = sent(startedCandidate({ documents }), 0);
      expect(planned(record, 500, skip).next).to.equal(538);
      const now = START + 500 * HOUR;
      expect(planned(reminded(record, planOf(record, skip, now), iso(now)), 500, skip).next).to.equal(500);
    });

    it("keeps the interval, however often they are turned off and on", () => {
      let record = sent(startedCandidate({ documents }), 0);
      for (let hours = 1; hours < 48; hours++) {
        record = sent(on(off(record, hours), hours), hours);
        expect(record.documents[0]?.chase.attempts, `after ${hours} hours`).to.equal(1);
      }
      expect(planned(record, 47).next).to.equal(48);
    });

    it("gives a referee whose cap is used up the interval again to answer", () => {
      const capped = { ...startedCandidate({ references: [references[0]!] }), reference_chase_attempts: 1 };
      expect(planned(on(off(sent(capped, 0), 1), 500), 500).lapses).to.deep.equal([["ref_1", 548]]);
      expect(planned(on(off(optedOut(capped, ["ref_1@example.com"]), 1), 500), 500).lapses).to.deep.equal([
        ["ref_1", 548],
      ]);
    });

    it("repeats an attempt when they are turned on, not before", () => {
      const once = sent(startedCandidate({ documents }), 0);
      const waiting = deferred(once, { to: "candidate", messageId: "candidate.0", refusals: 1 }, iso(START + HOUR));
      expect(planned(on(off(waiting, 0.5), 10), 10).messages).to.deep.equal([["candidate", "doc_1", "doc_2", 10]]);
    });
  });

  describe("after another system's", () => {
    const chase = (attempts: number, hours: number | null) => ({
      chase: { attempts, last_at: hours === null ? null : iso(START + hours * HOUR) },
    });

    it("keeps the interval after the last one, and its attempts count", () => {
      const record = startedCandidate({
        documents: [requestedDocument("doc_1", chase(1, -30)), requestedDocument("doc_2", chase(3, -10))],
        references: [requestedReference("ref_1", chase(2, -47)), requestedReference("ref_2", chase(2, -500))],
      });
      expect(planned(record).messages).to.deep.equal([
        ["candidate", "doc_1", 38],
        ["ref_1", 1],
        ["ref_2", 0],
      ]);
      const both = sent(sent(record, 0), 1);
      expect(both.references.map(({ chase: { attempts } }) => attempts)).to.deep.equal([3, 3]);
      expect(planned(both, 1).lapses).to.deep.equal([
        ["ref_1", 49],
        ["ref_2", 48],
      ]);
    });

    it("begins at the start if the last one's time is not known", () => {
      const record = startedCandidate({ references: [requestedReference("ref_1", chase(2, null))] });
      expect(planned(record).messages).to.deep.equal([["ref_1", 0]]);
    });

    it("makes a reference unresponsive whose cap they used up, one interval after the last one or else the start", () => {
      const lapses = (given: ReturnType<typeof chase>, cap: number) => {
        const record = startedCandidate({ references: [requestedReference("ref_1", given)] });
        return planned({ ...record, reference_chase_attempts: cap }).lapses;
      };
      expect(lapses(chase(3, -10), 3)).to.deep.equal([["ref_1", 38]]);
      expect(lapses(chase(1000, null), 3)).to.deep.equal([["ref_1", 48]]);
      expect(lapses(chase(2, -10), 3)).to.deep.equal([]);
      expect(lapses(chase(1, -10), 0)).to.deep.equal([["ref_1", 38]]);
      expect(lapses(chase(0, null), 0), "it was never asked").to.deep.equal([]);
    });
  });
});
