import { planOf } from "../../src/reminders/plan.ts";
import { bounced, claimed, deferred, lapsed } from "../../src/reminders/edits.ts";
import { withOutreach } from "../../src/candidates/edits.ts";
import { optedOut } from "../../src/candidates/outreach.ts";
import type { CandidateRecord, ReferenceRecord } from "../../src/candidates/record.ts";
import { expect } from "chai";
import { HOUR, iso, requestedDocument, requestedReference, rules, START, startedCandidate, next } from "./support.ts";

const RULES = rules(48);
const documents = [requestedDocument("doc_1"), requestedDocument("doc_2")];
const references = [requestedReference("ref_1"), requestedReference("ref_2")];

/** What the plan says at a time: to whom, what and when, in hours since the start. */
function planned(record: CandidateRecord, hours = 0, by = RULES) {
  const { messages, nextAt, reason, lapses } = planOf(record, by, START + hours * HOUR);
  return {
    messages: messages.map(({ to, documents: listed, at }) => [to, ...listed, (at - START) / HOUR]),
    next: (nextAt - START) / HOUR,
    reason,
    lapses: lapses.map(({ reference, at }) => [reference, (at - START) / HOUR]),
  };
}

/** Sends the messages that are due, so many hours after the start. */
function sent(record: CandidateRecord, hours: number, by = RULES): CandidateRecord {
  const now = START + hours * HOUR;
  const { messages, nextAt } = planOf(record, by, now);
  const due = nextAt > now ? [] : messages.filter(({ at }) => at <= now);
  const after = due.reduce(
    (one, message) => claimed(one, message, { messageId: `${message.to}.${hours}`, address: message.email }, iso(now)),
    record,
  );
  return next(record, after, now, by);
}

const nothing = (reason: string) => ({ messages: [], next: Infinity, reason, lapses: [] });

describe("The plan of reminders", () => {
  it("is one message to the candidate with all outstanding documents, and one to each referee, at the start", () => {
    expect(planned(startedCandidate({ documents, references }))).to.deep.equal({
      messages: [
        ["candidate", "doc_1", "doc_2", 0],
        ["ref_1", 0],
        ["ref_2", 0],
      ],
      next: 0,
      reason: null,
      lapses: [],
    });
  });

  it("goes on at the interval after the last message, and adds 1 to the attempts of what each message asks for", () => {
    const once = sent(startedCandidate({ documents, references }), 1);
    expect(once.documents.map(({ chase }) => chase)).to.deep.equal(
      documents.map(() => ({ attempts: 1, last_at: iso(START + HOUR) })),
    );
    expect(once.references.map(({ chase }) => chase.attempts)).to.deep.equal([1, 1]);
    expect(planned(once, 2).next).to.equal(49);
    expect(planned(once, 60)).to.include({ next: 60, reason: null });
    expect(sent(once, 48).documents[0]?.chase.attempts, "it is not due yet").to.equal(1);
    expect(sent(once, 49).documents[0]?.chase.attempts).to.equal(2);
  });

  it("lists each document up to its cap, and stops at it", () => {
    const late = { ...startedCandidate({ documents: [documents[0]!] }), docs_chase_attempts: 2 };
    const [once, twice] = [sent(late, 0), sent(sent(late, 0), 48)];
    const added = { ...twice, documents: [...twice.documents, documents[1]!] };
    expect(planned(once, 1).messages).to.deep.equal([["candidate", "doc_1", 48]]);
    expect(planned(twice, 49)).to.deep.equal(nothing("cap_reached"));
    expect(planned(added, 49).messages).to.deep.equal([["candidate", "doc_2", 96]]);
    expect(planned({ ...twice, docs_chase_attempts: 3 }, 49).messages).to.deep.equal([["candidate", "doc_1", 96]]);
    expect(planned({ ...once, docs_chase_attempts: 1 }, 49)).to.deep.equal(nothing("cap_reached"));
    expect(planned({ ...late, docs_chase_attempts: 0 })).to.deep.equal(nothing("cap_reached"));
  });

  it("asks for what the candidate has to send: requested, rejected and expired documents, and optional ones with them", () => {
    const optional = requestedDocument("doc_3", { required: false });
    const states = (["requested", "received", "accepted", "rejected", "expired", "waived", "cancelled"] as const).map(
      (state) => requestedDocument(`doc_${state}`, { state }),
    );
    const record = startedCandidate({ documents: [...states, optional] });
    expect(planned(record).messages).to.deep.equal([
      ["candidate", "doc_requested", "doc_rejected", "doc_expired", "doc_3", 0],
    ]);
    const only = startedCandidate({ documents: [optional, requestedDocument("doc_4", { state: "received" })] });
    expect(planned(only)).to.deep.equal(nothing("nothing_outstanding"));
  });

  it("has a reason if no message will come", () => {
    const record = startedCandidate({ documents });
    const cases: [string, CandidateRecord, typeof RULES?][] = [
      ["withdrawn", { ...record, withdrawn: true }],
      ["not_started", { ...record, started_at: null }],
      ["nothing_outstanding", startedCandidate({})],
      ["nothing_outstanding", { ...record, state: "completed" }],
      ["disabled", record, rules(48, {}, { enabled: false })],
      ["disabled", record, rules(48, {}, { channels: ["sms"] })],
      ["disabled", { ...record, outreach_enabled: false }],
      ["withdrawn", { ...record, outreach_enabled: false, withdrawn: true }],
      ["not_started", { ...record, outreach_enabled: false, started_at: null }],
      ["nothing_outstanding", { ...startedCandidate({}), outreach_enabled: false }],
      ["no_email", { ...record, email: null }],
      ["opted_out", optedOut(record, ["ada@example.com"])],
      ["bounced", bounced(record, "candidate", "ada@example.com", iso(START))],
      ["cap_reached", { ...record, docs_chase_attempts: 0 }],
    ];
    for (const [reason, facts, by] of cases) expect(planned(facts, 0, by), reason).to.deep.equal(nothing(reason));
    expect(planOf(record, undefined, START).reason).to.equal("disabled");
    const never = planOf(record, rules(48, { enabled: true, start: "00:00", end: "00:00" }), START);
    expect([never.nextAt, never.reason]).to.deep.equal([Infinity, "quiet_hours"]);
  });

  it("says the first reason in the order of the records, and none while another recipient gets a message", () => {
    const [one, other] = references as [ReferenceRecord, ReferenceRecord];
    const blocked = [
      { ...one, email: null },
      { ...other, state: "bounced" as const },
    ];
    expect(planned(startedCandidate({ references: blocked })).reason).to.equal("no_email");
    expect(planned(startedCandidate({ references: blocked.toReversed() })).reason).to.equal("bounced");
    expect(planned(startedCandidate({ documents, references: blocked, email: null })).reason).to.equal("no_email");
    expect(planned(startedCandidate({ documents, references: blocked })).messages).to.have.length(1);
    expect(planned(startedCandidate({ references: [{ ...one, state: "declined" }] })).reason).to.equal(
      "nothing_outstanding",
    );
  });

  it("begins again with another address, after a bounce and after a stop", () => {
    const record = startedCandidate({ documents });
    const once = bounced(record, "candidate", "ada@example.com", iso(START));
    const away = next(once, { ...once, email: null }, START, RULES);
    const again = next(away, { ...away, email: "ada@example.com" }, START, RULES);
    expect([away.outreach.reason, again.outreach.reason]).to.deep.equal(["no_email", null]);
    const stopped = optedOut(bounced(record, "candidate", "ada@example.com", iso(START)), ["ada@example.com"]);
    const moved = next(stopped, { ...stopped, email: "new@example.com" }, START, RULES);
    expect(moved.outreach.reason).to.equal(null);
    expect(moved.outreach.opted_out, "nothing is kept of the address").to.deep.equal([]);
    const shouted = next(stopped, { ...stopped, email: "Ada@Example.com" }, START, RULES);
    expect(shouted.outreach.reason, "letter case makes no difference").to.equal("opted_out");
  });

  it("asks nobody again who stopped the messages, also as another reference", () => {
    const [one, other] = references as [ReferenceRecord, ReferenceRecord];
    const stopped = optedOut(startedCandidate({ references: [one] }), [one.email ?? ""]);
    const replaced = { ...stopped, references: [{ ...other, email: one.email }] };
    expect(planned(replaced)).to.deep.equal({ ...nothing("opted_out"), lapses: [["ref_2", 48]] });
  });

  it("makes a reference unresponsive one interval after the last attempt that its cap allows", () => {
    const record = { ...startedCandidate({ references: [references[0]!] }), reference_chase_attempts: 1 };
    const once = sent(record, 0);
    expect(planned(once, 1)).to.deep.equal({ ...nothing("cap_reached"), lapses: [["ref_1", 48]] });
    expect(once.outreach).to.include({ next_at: null, reason: "cap_reached", look_at: iso(START + 48 * HOUR) });
    const { lapses } = planOf(once, RULES, START + 48 * HOUR);
    expect(lapsed(once, lapses, iso(START + 48 * HOUR - 1))).to.equal(once);
    expect(lapsed(once, lapses, iso(START + 48 * HOUR)).references[0]?.state).to.equal("unresponsive");
    expect(planned({ ...once, reference_chase_attempts: 2 }, 1).lapses, "the cap was raised").to.deep.equal([]);
    expect(planned({ ...record, reference_chase_attempts: 0 }, 1).lapses, "it was never asked").to.deep.equal([]);
    expect(planned(optedOut(once, ["ref_1@example.com"]), 1).lapses).to.deep.equal([["ref_1", 48]]);
    const refused = { ...once, references: [{ ...once.references[0]!, state: "bounced" as const }] };
    expect(planned(optedOut(refused, ["ref_1@example.com"]), 1).lapses, "a bounce stays").to.deep.equal([]);
  });

  it("repeats an attempt that the mail server refused for the moment, and does not count it again", () => {
    const once = sent(startedCandidate({ documents }), 0);
    const waiting = deferred(once, { to: "candidate", messageId: "candidate.0", refusals: 1 }, iso(START + HOUR));
    expect(planned(waiting).messages).to.deep.equal([["candidate", "doc_1", "doc_2", 1]]);
    const [message] = planOf(waiting, RULES, START + HOUR).messages;
    const again = claimed(waiting, message!, { messageId: "another", address: message!.email }, iso(START + HOUR));
    expect(again.documents.map(({ chase }) => chase.attempts)).to.deep.equal([1, 1]);
    expect(again.outreach.recipients[0]?.last).to.include({ message_id: "candidate.0", tries: 2, retry_at: null });
    expect(planned(again, 1).next, "the interval begins with the last try").to.equal(49);
    expect(planned({ ...waiting, docs_chase_attempts: 0 }), "the cap was lowered").to.deep.equal(
      nothing("cap_reached"),
    );
    const [settled, open] = waiting.documents;
    const half = { ...waiting, documents: [{ ...settled!, state: "received" as const }, open!] };
    expect(planned(half).messages).to.deep.equal([["candidate", "doc_2", 1]]);
    expect(
      deferred(again, { to: "candidate", messageId: "another", refusals: 1 }, iso(START)),
      "not the last attempt",
    ).to.equal(again);
  });

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

  it("puts a message off to the end of the quiet hours", () => {
    const quiet = rules(48, { enabled: true, timezone: "Europe/Berlin", start: "09:00", end: "12:00" });
    const record = startedCandidate({ documents }, quiet); // 11:00 in Berlin
    expect(record.outreach.next_at).to.equal(iso(START + HOUR));
    expect(sent(record, 0.9, quiet).documents[0]?.chase.attempts).to.equal(0);
  });
});
