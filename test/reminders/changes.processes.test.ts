import { expect } from "chai";
import { patched, withOutreach } from "../../src/candidates/edits.ts";
import { patchedDocument } from "../../src/candidates/documents.ts";
import { situationOf } from "../../src/candidates/moves.ts";
import { withPart } from "../../src/candidates/parts.ts";
import type { CandidateRecord, ReferenceRecord } from "../../src/candidates/record.ts";
import { patchedReference } from "../../src/candidates/references.ts";
import { renderCandidate } from "../../src/candidates/render.ts";
import { reminded } from "../../src/reminders/edits.ts";
import { planOf } from "../../src/reminders/plan.ts";
import { spreadOptOuts } from "../../src/reminders/spread-opt-outs.ts";
import { HOUR, iso, requestedDocument, requestedReference } from "./support.ts";
import { useWorkbench } from "./workbench.ts";

const MINUTE = 60_000;
const REF = "ref@example.com";

describe("A change that concerns somebody", () => {
  const { bench } = useWorkbench();
  const { signal } = new AbortController();
  const recipients = () => bench.sent.map(({ to }) => to.address);
  let id: string;

  /** Sends what is due after so many minutes. Returns the recipients of all messages since the change. */
  async function after(minutes: number): Promise<string[]> {
    bench.now += minutes * MINUTE;
    await bench.sender().run(signal);
    return recipients();
  }

  beforeEach(async () => {
    id = await bench.candidate({ documents: ["CV", "Passport"], references: [REF] });
    await bench.sender().run(signal);
    bench.sent.length = 0;
    bench.now += HOUR;
  });

  const documents =
    (state: "rejected" | "expired" | "received" | "requested", rejection_reason: string | null = null) =>
    (record: CandidateRecord, now: string): CandidateRecord => {
      const [cv, passport] = record.documents;
      const patch = { state, ...(state === "rejected" && { rejection_reason }) };
      return { ...record, documents: [cv!, patchedDocument(passport!, patch, situationOf(record, now))] };
    };
  const reference = (change: Partial<ReferenceRecord>) => (record: CandidateRecord) => ({
    ...record,
    references: record.references.map((each) => ({ ...each, ...change })),
  });

  for (const [what, edit, who] of [
    ["a rejected document", documents("rejected"), "ada@example.com"],
    ["an expired document", documents("expired"), "ada@example.com"],
    [
      "a new document",
      (record: CandidateRecord) => withPart(record, "documents", requestedDocument("doc_new")),
      "ada@example.com",
    ],
    [
      "a new referee",
      (record: CandidateRecord) => withPart(record, "references", requestedReference("ref_new")),
      "ref_new@example.com",
    ],
    [
      "a corrected address of the candidate",
      (record: CandidateRecord) => patched(record, { email: "new@example.com" }),
      "new@example.com",
    ],
    ["a corrected address of a referee", reference({ email: "new@example.com" }), "new@example.com"],
  ] as const) {
    it(`is told after two minutes: ${what}`, async () => {
      await bench.change(id, edit);
      const { outreach } = await bench.read(id);
      expect(Date.parse(outreach.next_at ?? "") - bench.now, "next_at").to.be.within(119_000, 120_000);
      expect(await after(1.9), "within two minutes").to.deep.equal([]);
      expect(await after(0.1)).to.deep.equal([who]);
      expect(
        (await after(47 * 60)).filter((to) => to === who),
        "the interval begins again",
      ).to.have.length(1);
    });
  }

  for (const [what, edit] of [
    ["a file that has arrived", documents("received")],
    ["another name", (record: CandidateRecord) => patched(record, { name: "Ada Lovelace" })],
    ["an address in other letters", (record: CandidateRecord) => patched(record, { email: "ADA@example.com" })],
    ["an answer", reference({ state: "received" })],
    [
      "a document that another system has asked for",
      (record: CandidateRecord, now: string) =>
        withPart(record, "documents", requestedDocument("doc_new", { chase: { attempts: 1, last_at: now } })),
    ],
  ] as const) {
    it(`brings no message forward: ${what}`, async () => {
      await bench.change(id, edit);
      expect(await after(60)).to.deep.equal([]);
    });
  }

  it("is one message if there are several within two minutes, and the message says what changed", async () => {
    await bench.change(id, documents("rejected", "Blurred"));
    bench.now += MINUTE;
    await bench.change(id, (record) => withPart(record, "documents", requestedDocument("doc_new", { name: "Visa" })));
    expect(await after(1)).to.deep.equal(["ada@example.com"]);
    const [message] = bench.sent;
    expect(message?.subject).to.equal("Acme needs documents from you");
    expect(message?.text).to.contain("“Passport” was not accepted: Blurred\n“Visa” is needed as well.");
    expect(message?.text).to.match(/- CV\n- Passport\n- Visa\n/);
    expect(message?.html).to.contain("<p>“Passport” was not accepted: Blurred</p>");
    const { documents: all } = await bench.read(id);
    expect(all.map(({ chase }) => chase.attempts)).to.deep.equal([2, 2, 1]);
    expect(await after(48 * 60)).to.have.length(3);
    expect(bench.sent[1]?.text, "it is no news any more").not.to.contain("was not accepted:");
  });

  it("says every reason: the first twenty in sentences, and the others in the list", async () => {
    const many = await bench.candidate({ documents: Array.from({ length: 22 }, (_, n) => `File ${n}`) });
    await bench.sender().run(signal);
    bench.sent.length = 0;
    await bench.change(many, (record) => ({
      ...record,
      documents: record.documents.map((each) => ({
        ...each,
        state: "rejected" as const,
        rejection_reason: `Reason ${each.name}.`,
      })),
    }));
    await after(2);
    const text = bench.sent[0]?.text ?? "";
    expect(text.match(/was not accepted:/g)).to.have.length(20);
    for (let n = 0; n < 22; n++) expect(text.split(`Reason File ${n}.`), `reason ${n}`).to.have.length(2);
  });

  it("that is taken back within two minutes is none", async () => {
    await bench.change(id, documents("rejected"));
    bench.now += MINUTE;
    await bench.change(id, documents("received"));
    expect(await after(60)).to.deep.equal([]);
  });

  it("waits for the end of quiet hours, and passes no cap", async () => {
    bench.quietHours = { enabled: true, start: "11:00", end: "15:00" }; // it is 11:00
    bench.rules.forget(bench.accountId);
    await bench.change(id, documents("rejected"));
    expect(await after(60)).to.deep.equal([]);
    expect((await bench.read(id)).outreach.next_at).to.equal("2026-03-02T15:00:00.000Z");
    await bench.change(id, (record) => ({ ...record, docs_chase_attempts: 1 }));
    expect(await after(240)).to.deep.equal([]);
    const [cv] = renderCandidate(await bench.read(id)).documents;
    expect(cv?.chase).to.deep.include({ attempts: 1, next_at: null, reason: "cap_reached" });
  });

  it("counts for nothing once reminders were off meanwhile, and neither does a reminder at once", async () => {
    const turn = (outreach_enabled: boolean) =>
      bench.change(id, (record, now) => withOutreach(record, { outreach_enabled }, now));
    await bench.change(id, documents("rejected"));
    const { rules } = await bench.rules.fresh(bench.accountId);
    await bench.change(id, (record, now) => reminded(record, planOf(record, rules, Date.parse(now)), now));
    await turn(false);
    expect(await after(60), "off").to.deep.equal([]);
    await turn(true);
    expect(await after(45 * 60), "on again").to.deep.equal([]);
    expect(await after(60), "the interval after the last message").to.have.members(["ada@example.com", REF]);
  });

  it("does not shorten the pause after a temporary refusal, unless the address is another one", async () => {
    bench.deliver = () => ({ kind: "deferred", code: "451" });
    for (const minutes of [47 * 60, 1, 2, 4, 8, 16]) await after(minutes);
    bench.deliver = () => ({ kind: "sent", code: "250" });
    await bench.change(id, documents("rejected"));
    expect(await after(3), "the pause is half an hour").to.deep.equal([]);
    await bench.change(id, (record) => patched(record, { email: "new@example.com" }));
    expect(await after(2)).to.deep.equal(["new@example.com"]);
  });

  it("is a referee whom a client asks again, and not one who takes a refusal back", async () => {
    await bench.change(id, reference({ state: "declined" }));
    await bench.change(id, reference({ state: "requested" })); // as the page does: requested_at stays
    expect(await after(60)).to.deep.equal([]);
    await bench.change(id, reference({ state: "received" }));
    await bench.change(id, ({ references: [first], ...record }, now) => {
      return { ...record, references: [patchedReference(first!, { state: "requested" }, { started: true, now })] };
    });
    expect(await after(2)).to.deep.equal([REF]);
  });

  it("is the corrected address of a referee who bounced: the reference is requested again", async () => {
    await bench.change(id, reference({ state: "bounced" }));
    await bench.change(id, ({ references: [first], ...record }, now) => {
      return {
        ...record,
        references: [patchedReference(first!, { email: "new@example.com" }, { started: true, now })],
      };
    });
    expect((await bench.read(id)).references[0]?.state).to.equal("requested");
    expect(await after(2)).to.deep.equal(["new@example.com"]);
  });

  it("says what is new, and what is only asked for again is not", async () => {
    const visa = requestedDocument("doc_visa", { name: "Visa", required: false });
    await bench.change(id, documents("received"));
    bench.now += MINUTE;
    await bench.change(id, documents("requested"));
    await bench.change(id, (record) => withPart(record, "documents", visa));
    await after(2);
    expect(bench.sent[0]?.text).to.contain("“Visa” is needed as well.").and.to.contain("- Visa (if you have it)");
    expect(bench.sent[0]?.text).to.contain("- Passport").and.not.to.contain("“Passport”");
  });

  it("does not go out at once because of an earlier reminder that found nothing to ask for", async () => {
    const { rules } = await bench.rules.fresh(bench.accountId);
    const [cv] = (await bench.read(id)).documents;
    await bench.change(id, (record, now) => reminded(record, planOf(record, rules, Date.parse(now)), now));
    await bench.change(id, (record) => ({
      ...record,
      documents: record.documents.map((each) => ({ ...each, state: "received" as const })),
    }));
    await bench.change(id, (record) => ({ ...record, documents: [{ ...cv!, state: "rejected" as const }] }));
    expect((await after(1)).filter((to) => to !== REF)).to.deep.equal([]);
    expect((await after(1)).filter((to) => to !== REF)).to.deep.equal(["ada@example.com"]);
  });

  it("is told after an opt-out is lifted, and the message to a new address is no reminder", async () => {
    const { address } = { address: bench.stores.addresses.of("ada@example.com") };
    await bench.stores.optOuts.add({ accountId: bench.accountId, id, to: "candidate", address }, iso(bench.now));
    await spreadOptOuts({ candidates: bench.candidates, stores: bench.stores }, signal);
    expect(renderCandidate(await bench.read(id)).documents[0]?.chase.reason).to.equal("opted_out");
    await bench.stores.optOuts.lift(bench.accountId, "ada@example.com", iso(bench.now));
    await spreadOptOuts({ candidates: bench.candidates, stores: bench.stores }, signal);
    expect(await after(2)).to.deep.equal(["ada@example.com"]);
    expect(bench.sent[0]?.subject).to.match(/^Reminder:/);
    await bench.change(id, (record) => patched(record, { email: "new@example.com" }));
    expect(await after(2)).to.deep.equal(["ada@example.com", "new@example.com"]);
    expect(bench.sent[1]?.subject).not.to.match(/^Reminder:/);
  });

  it("goes out in the person's own language, whatever the assistant's is", async () => {
    bench.assistant = { language: "fr" };
    await bench.change(id, (record) => patched(record, { language: "de-CH" }));
    await bench.change(id, documents("rejected", "unscharf"));
    await bench.change(id, reference({ language: "nl", email: "new@example.com" }));
    await after(2);
    expect(bench.sent.map(({ language }) => language).toSorted()).to.deep.equal(["de", "nl"]);
    expect(bench.sent.map(({ text }) => text).join("\n")).to.contain("„Passport“ wurde nicht akzeptiert: unscharf");
  });
});
