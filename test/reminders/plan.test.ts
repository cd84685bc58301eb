import { planOf } from "../../src/reminders/plan.ts";
import { bounced, claimed, deferred, lapsed } from "../../src/reminders/edits.ts";
import { optedOut } from "../../src/candidates/outreach.ts";
import type { CandidateRecord, ReferenceRecord } from "../../src/candidates/record.ts";
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

  it("puts a message off to the end of the quiet hours", () => {
    const quiet = rules(48, { enabled: true, timezone: "Europe/Berlin", start: "09:00", end: "12:00" });
    const record = startedCandidate({ documents }, quiet); // 11:00 in Berlin
    expect(record.outreach.next_at).to.equal(iso(START + HOUR));
    expect(sent(record, 0.9, quiet).documents[0]?.chase.attempts).to.equal(0);
  });
});
