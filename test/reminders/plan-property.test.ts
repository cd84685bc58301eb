import { type ReminderRules, type PlannedMessage, planOf } from "../../src/reminders/plan.ts";
import { bounced, claimed, deferred, lapsed, reminded, replanned } from "../../src/reminders/edits.ts";
import { optedOut } from "../../src/candidates/outreach.ts";
import { patched, started, withOutreach } from "../../src/candidates/edits.ts";
import { DOCUMENT_STATES } from "../../src/candidates/document-schema.ts";
import type { CandidateRecord } from "../../src/candidates/record.ts";
import { REFERENCE_STATES } from "../../src/candidates/reference-schema.ts";
import { expect } from "chai";
import fc from "fast-check";
import { effectiveAt } from "../../src/settings/quiet-hours.ts";
import { candidateRecord } from "../support/records.ts";
import { HOUR, iso, requestedDocument, requestedReference, rules, START, next } from "./support.ts";

/** A candidate in the middle of its history. */
interface Moment {
  record: CandidateRecord;
  rules: ReminderRules;
  now: number;
  /** When each recipient was last written to. */
  readonly last: Map<string, number>;
  /** When something was last changed about each recipient, or a client asked for a reminder. */
  readonly changed: Map<string, number>;
  /** The Message-IDs that may have been sent. */
  readonly sent: Set<string>;
  count: number;
}

type Step = (moment: Moment) => void;

/** Writes the candidate, as CandidateStore does. */
function write(moment: Moment, edit: (record: CandidateRecord, now: string) => CandidateRecord): void {
  const edited = edit(moment.record, iso(moment.now));
  if (edited !== moment.record) moment.record = next(moment.record, edited, moment.now, moment.rules);
}

const OUTCOMES = ["sent", "deferred", "bounced", "crash"] as const;

/** Does what the sender does with a message that is due, and checks the caps and the interval. */
function send(moment: Moment, message: PlannedMessage, outcome: (typeof OUTCOMES)[number]): void {
  const { record, now } = moment;
  const { to, documents, repeats, email } = message;
  const itemsOf = (each: CandidateRecord) =>
    to === "candidate"
      ? each.documents.filter((document) => documents.includes(document.id))
      : each.references.filter((reference) => reference.id === to);
  const attempts = (each: CandidateRecord) => itemsOf(each).map(({ chase }) => chase.attempts);
  const cap = to === "candidate" ? record.docs_chase_attempts : record.reference_chase_attempts;
  const before = attempts(record);
  expect(before, "it asks for something").not.to.have.length(0);
  const id = repeats?.message_id ?? `message.${moment.count++}`;
  write(moment, (each, at) => claimed(each, message, { messageId: id, address: message.email }, at));
  const isRepeated = itemsOf(record).map((item) => repeats && (item.id === to || repeats.documents.includes(item.id)));
  expect(attempts(moment.record)).to.deep.equal(before.map((count, n) => (isRepeated[n] ? count : count + 1)));
  for (const count of attempts(moment.record)) expect(count, "the cap").to.be.at.most(cap);
  expect(record.withdrawn, "withdrawn").to.equal(false);
  expect(record.outreach_enabled, "turned on").to.equal(true);
  expect(record.state, "settled").not.to.equal("completed");
  expect(effectiveAt(moment.rules.quietHours, now).quiet_now, "a quiet hour").to.equal(false);
  expect(moment.sent.has(id), "sent twice").to.equal(false);
  const last = moment.last.get(to);
  const changed = moment.changed.get(to) ?? -Infinity;
  if (last !== undefined && !repeats && changed < last)
    expect(now - last, "the interval").to.be.at.least(moment.rules.intervalMs);
  moment.last.set(to, now);
  if (outcome === "deferred")
    write(moment, (each) => deferred(each, { to, messageId: id, refusals: 1 }, iso(now + HOUR / 60)));
  else moment.sent.add(id);
  if (outcome === "bounced") write(moment, (each, at) => bounced(each, to, email, at));
}

/** Checks what the plan says, and that it is what the last write has stored. */
function check({ record, rules: by, now }: Moment): void {
  const { messages, nextAt, reason, lapses } = planOf(record, by, now);
  const resumedAt = Date.parse(record.outreach.resumed_at ?? "") || 0;
  for (const { at } of messages) expect(at, "not for the past").to.be.at.least(resumedAt);
  for (const { at } of lapses) expect(at, "time to answer").to.be.at.least(resumedAt + by.intervalMs);
  if (!record.outreach_enabled) expect([messages, lapses], "turned off").to.deep.equal([[], []]);
  expect(reason === null, "a reason if and only if nothing is next").to.equal(nextAt < Infinity);
  expect(nextAt).to.be.at.least(now);
  if (nextAt < Infinity) {
    expect(messages).not.to.have.length(0);
    expect(effectiveAt(by.quietHours, nextAt).quiet_now).to.equal(false);
  }
  const { look_at, next_at } = record.outreach;
  if (next_at !== null) expect(look_at !== null && look_at <= next_at, "the sender looks in time").to.equal(true);
  for (const { at } of lapses) expect(look_at !== null && look_at <= iso(Math.max(at, now)), "a lapse").to.equal(true);
}

const pick = fc.nat({ max: 3 });
const email = fc.constantFrom("a@example.com", "b@example.com", null);
/** What another system has sent, and how many hours before the start the last one was. Undefined: not known. */
const imported = fc.record({
  attempts: fc.nat({ max: 4 }),
  hours: fc.option(fc.nat({ max: 100 }), { nil: undefined }),
});
const quiet = fc.record({
  enabled: fc.boolean(),
  timezone: fc.constantFrom("UTC", "Europe/Berlin", "Asia/Kathmandu"),
  start: fc.constantFrom("00:00", "21:00", "08:30"),
  end: fc.constantFrom("00:00", "08:00", "22:15"),
});

/** Notes that something was changed about a recipient: a message may then go out before the interval is over. */
function touch({ changed, now }: Moment, to: string): void {
  changed.set(to, now);
}

function change<Item extends { readonly id: string }>(
  items: readonly Item[],
  at: number,
  change: Partial<Item>,
): Item[] {
  return items.map((item, n) => (n === at % items.length ? { ...item, ...change } : item));
}

const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom(...OUTCOMES).map<Step>((outcome) => (moment) => {
      const { messages, nextAt, lapses } = planOf(moment.record, moment.rules, moment.now);
      const due = nextAt <= moment.now ? messages.find(({ at }) => at <= moment.now) : undefined;
      if (due !== undefined) send(moment, due, outcome);
      else write(moment, (each, at) => replanned(lapsed(each, lapses, at), moment.rules, at));
    }),
  },
  {
    weight: 4,
    arbitrary: fc.integer({ min: 1, max: 200 }).map<Step>((hours) => (moment) => void (moment.now += hours * HOUR)),
  },
  {
    weight: 4,
    arbitrary: fc.constant<Step>((moment) => {
      const { look_at } = moment.record.outreach;
      if (look_at !== null && look_at < "9") moment.now = Math.max(moment.now, Date.parse(look_at));
    }),
  },
  fc.constant<Step>((moment) => write(moment, (each, at) => (each.withdrawn ? each : started(each, at)))),
  fc.boolean().map<Step>((withdrawn) => (moment) => write(moment, (each) => patched(each, { withdrawn }))),
  email.map<Step>((address) => (moment) => {
    touch(moment, "candidate");
    write(moment, (each) => patched(each, { email: address }));
  }),
  fc.constant<Step>((moment) => {
    for (const { to } of planOf(moment.record, moment.rules, moment.now).messages) touch(moment, to);
    write(moment, (each, at) => reminded(each, planOf(each, moment.rules, moment.now), at));
  }),
  fc
    .record({ docs_chase_attempts: fc.nat({ max: 4 }), reference_chase_attempts: fc.nat({ max: 4 }) })
    .map<Step>((patch) => (moment) => write(moment, (each, at) => withOutreach(each, patch, at))),
  fc
    .constantFrom(true, true, false)
    .map<Step>((on) => (moment) => write(moment, (each, at) => withOutreach(each, { outreach_enabled: on }, at))),
  fc.tuple(pick, fc.constantFrom(...DOCUMENT_STATES)).map<Step>(([at, state]) => (moment) => {
    touch(moment, "candidate");
    write(moment, (each) => ({ ...each, documents: change(each.documents, at, { state }) }));
  }),
  fc.tuple(pick, fc.constantFrom(...REFERENCE_STATES)).map<Step>(([at, state]) => (moment) => {
    touch(moment, `ref_${(at % 2) + 1}`);
    write(moment, (each) => ({ ...each, references: change(each.references, at, { state }) }));
  }),
  fc.tuple(pick, email).map<Step>(([at, address]) => (moment) => {
    touch(moment, `ref_${(at % 2) + 1}`);
    write(moment, (each) => ({ ...each, references: change(each.references, at, { email: address }) }));
  }),
  pick.map<Step>((at) => (moment) => {
    const to = at === 0 ? "candidate" : (moment.record.references[at - 1]?.id ?? "candidate");
    const address = to === "candidate" ? moment.record.email : moment.record.references[at - 1]?.email;
    if (address) write(moment, (each) => optedOut(each, [address]));
  }),
  fc
    .tuple(fc.integer({ min: 1, max: 100 }), quiet, fc.boolean())
    .map<Step>(([hours, quietHours, enabled]) => (moment) => {
      moment.rules = rules(hours, quietHours, { enabled });
      write(moment, (each, at) => replanned(each, moment.rules, at));
    }),
);

describe("The plan of reminders, over random histories of settings, caps, states and times", () => {
  it("keeps the caps, the interval and the quiet hours, and always has a reason if nothing is next", () => {
    let sent = 0;
    fc.assert(
      fc.property(fc.array(steps, { minLength: 10, maxLength: 60 }), imported, imported, (history, one, other) => {
        const last = new Map<string, number>();
        const chasedBefore = (to: string, { attempts, hours }: typeof one) => {
          const at = attempts === 0 || hours === undefined ? null : START - hours * HOUR;
          if (at !== null) last.set(to, Math.max(at, last.get(to) ?? 0));
          return { chase: { attempts, last_at: at === null ? null : iso(at) } };
        };
        const documents = ["doc_1", "doc_2", "doc_3"].map((id, n) =>
          requestedDocument(id, { required: n > 0, ...chasedBefore("candidate", n === 1 ? one : other) }),
        );
        const references = ["ref_1", "ref_2"].map((id, n) =>
          requestedReference(id, chasedBefore(id, n === 1 ? one : other)),
        );
        const record = candidateRecord({ email: "a@example.com", documents, references, started_at: iso(START) });
        const by = rules(24);
        const moment: Moment = {
          record: next(record, record, START, by),
          rules: by,
          now: START,
          last,
          changed: new Map(),
          sent: new Set(),
          count: 0,
        };
        for (const step of history) {
          step(moment);
          check(moment);
        }
        sent += moment.sent.size;
      }),
      { numRuns: 400 },
    );
    expect(sent, "messages were sent").to.be.above(300);
  });
});
