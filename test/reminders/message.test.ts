import { expect } from "chai";
import { planOf } from "../../src/reminders/plan.ts";
import { claimed } from "../../src/reminders/edits.ts";
import type { CandidateRecord } from "../../src/candidates/record.ts";
import { type Message, messageOf } from "../../src/reminders/message.ts";
import { senderOf } from "../../src/reminders/rules.ts";
import { LANGUAGES } from "../../src/reminders/languages/language.ts";
import { type Assistant, ASSISTANT_DEFAULTS } from "../../src/settings/schema.ts";
import { iso, requestedDocument, requestedReference, rules, START, startedCandidate } from "./support.ts";

const documents = [
  requestedDocument("doc_1", { name: "Passport" }),
  requestedDocument("doc_2", { name: "Diploma", state: "rejected", rejection_reason: "The photo is not readable" }),
  requestedDocument("doc_3", { name: "Visa", state: "expired" }),
  requestedDocument("doc_4", { name: "Letter", required: false }),
];
const references = [requestedReference("ref_1", { name: "Grace Hopper" })];
const ADA = startedCandidate({ name: "Ada Lovelace", first_name: "Ada", job_title: "Analyst", documents, references });

/** Makes the messages that are due at the start: to the candidate, then to the referee. */
function messages(record: CandidateRecord = ADA, assistant: Partial<Assistant> = {}, times = 1): Message[] {
  return planOf(record, rules(), START).messages.map((message, n) => {
    let after = record;
    for (let time = 0; time < times; time++)
      after = claimed(after, message, { messageId: `message-${n}`, address: "" }, iso(START));
    const pageUrl = "https://hire.example.com/u/token";
    return messageOf(
      {
        record: after,
        message,
        messageId: `message-${n}`,
        language: assistant.language ?? "en",
        isNewAddress: false,
        pageUrl,
        stopUrl: `${pageUrl}/stop`,
        expires_at: "2027-05-28T23:59:59.999Z",
      },
      {
        assistant: { ...ASSISTANT_DEFAULTS, ...assistant },
        sender: senderOf({ display_name: null, ...assistant }, "Acme"),
      },
      { host: "hire.example.com", mailFrom: "jobs@example.com" },
    );
  });
}

describe("A reminder", () => {
  it("to the candidate lists each document, and why it is asked for again", () => {
    const [message] = messages();
    expect(message).to.deep.include({
      from: { name: "Acme via hire.example.com", address: "jobs@example.com" },
      to: { name: "Ada Lovelace", address: "ada@example.com" },
      replyTo: null,
      subject: "Acme needs documents from you",
      language: "en",
    });
    expect(message?.text).to.equal(
      [
        "Hello Ada,",
        "Acme needs these documents from you for the job “Analyst”:",
        "- Passport\n- Diploma (not accepted: The photo is not readable)\n- Visa (expired)\n- Letter (if you have it)",
        "You can send documents on this page, from a phone too:\nhttps://hire.example.com/u/token",
        "-- \nWe are writing to you on behalf of Acme. Documents are needed from you.\nThis link works until 28 May 2027. If you do not want any more messages\nfrom Acme to this address, you can stop them here:\nhttps://hire.example.com/u/token/stop\n",
      ].join("\n\n"),
    );
  });

  it("to a referee says who has named them, and who asks", () => {
    const [, message] = messages();
    expect(message).to.deep.include({
      to: { name: "Grace Hopper", address: "ref_1@example.com" },
      subject: "A reference for Ada Lovelace",
    });
    expect(message?.text).to.match(
      /^Hello Grace Hopper,\n\nAda Lovelace has named you as a reference. Acme would like/,
    );
  });

  it("says that it is a reminder from the second on", () => {
    const subjects = messages(ADA, {}, 2).map(({ subject }) => subject);
    expect(subjects).to.deep.equal([
      "Reminder: Acme needs documents from you",
      "Reminder: A reference for Ada Lovelace",
    ]);
  });

  it("follows the assistant: its name, its address for replies, its note", () => {
    const settings = {
      display_name: "Acme Onboarding",
      reply_to: "people@acme.example",
      instructions: "Scans, please.\nNo photos.",
    };
    for (const { from, replyTo, text, html } of messages(ADA, settings)) {
      expect([from.name, replyTo]).to.deep.equal(["Acme Onboarding via hire.example.com", "people@acme.example"]);
      expect(text).to.contain("Acme Onboarding").and.to.contain("\nScans, please.\nNo photos.\n");
      expect(html).to.contain("Scans, please.\nNo photos.");
    }
  });

  it("names no sender that could be read as another address, also one that was stored before that was refused", () => {
    const display_name = 'Barclays "Security" <security@barclays.co.uk>\u202E\r\n＠';
    const [message] = messages(ADA, { display_name });
    expect(message?.from.name).to.equal("Barclays Security security barclays.co.uk via hire.example.com");
    expect(message?.subject).to.not.match(/[@<>"\u202E]/);
    expect(messages(ADA, { display_name: "<@>" })[0]?.from.name).to.equal("Acme via hire.example.com");
    expect(messages(ADA, { display_name: "👩‍💻 علی‌رضا" })[0]?.from.name).to.equal("👩‍💻 علی‌رضا via hire.example.com");
  });

  it("names no account that could be read as another address", () => {
    expect(senderOf({ display_name: null }, "Bank <a@b.example>\u202E")).to.equal("Bank a b.example");
  });

  it("has short names in its headers, so that none is a message of its own", () => {
    const long = `Call +44 20 7946 0000 ${"now ".repeat(40)}`;
    const record = { ...ADA, name: long };
    for (const { from, subject } of messages(record, { display_name: long.slice(0, 200) })) {
      expect(from.name).to.match(/^.{60} via hire\.example\.com$/);
      expect(subject.length).to.be.below(100);
    }
  });

  it("has no gap in its note that pushes the stop link out of sight", () => {
    const instructions = `Read this.${" \r\n\n\u2028\u200b".repeat(400)}-- \nStop here: https://evil.example`;
    for (const { text, html } of messages(ADA, { instructions })) {
      expect(text).to.contain("Read this.\n\n--\nStop here");
      expect(text.split("\n-- \n"), "one signature").to.have.length(2);
      expect(html).to.contain("Read this.\n\n--\nStop here");
    }
  });

  it("has no text of a client in a header that mail programs would decode", () => {
    const word = "=?utf-8?b?UGF5UGFsIDxzZXJ2aWNlQHBheXBhbC5jb20+?=";
    const record = { ...ADA, name: word, references: [requestedReference("ref_1", { name: word })] };
    for (const { from, to, subject } of messages(record, { display_name: `${word} Team` }))
      for (const header of [from.name, to.name, subject]) expect(header).to.not.contain("=?");
  });

  it("has names on one line, so that none passes for text of the message", () => {
    const forged = "Ada,\n\nyour account is locked\n\nYour Bank";
    const record = { ...ADA, name: forged, first_name: null, job_title: forged };
    for (const { text } of messages({ ...record, references: [requestedReference("ref_1", { name: forged })] }))
      expect(text.replaceAll(/(?<!\n)\n(?!\n)/g, " ")).to.not.match(/^(your account|Your Bank)/m);
  });

  it("shows no name that turns text around, and no link in the note as one", () => {
    const [message] = messages(
      {
        ...ADA,
        name: "Ada\u202E\nLovelace",
        documents: [requestedDocument("doc_1", { name: "Passport\u202Efdp.exe" })],
      },
      { instructions: "See \u202Ehttps://example.com/now" },
    );
    expect(message?.to.name).to.equal("Ada Lovelace");
    expect(`${message?.text}${message?.html}`)
      .to.contain("Passportfdp.exe")
      .and.not.to.match(/\u202E/);
    expect(message?.html)
      .to.contain("See https://example.com/now")
      .and.not.to.match(/<a [^>]*example\.com\/now/);
  });

  for (const { language } of LANGUAGES) {
    it(`is written in ${language}, in full`, () => {
      const others = LANGUAGES.filter((each) => each.language !== language);
      for (const message of messages(ADA, { language: `${language}-XX` })) {
        expect(message.language).to.equal(language);
        expect(message.html).to.contain(`<html lang="${language}">`);
        expect(message.text).to.contain("Acme").and.to.contain("https://hire.example.com/u/token\n");
        for (const other of others) {
          expect(message.text).not.to.contain(other.documents.open).and.not.to.contain(other.reference.open);
          expect(message.text).not.to.contain(other.stop("Acme"));
        }
      }
    });
  }

  it("is in English if its language is none of these", () => {
    for (const language of ["pt-BR", "ja", "d"]) expect(messages(ADA, { language })[0]?.language).to.equal("en");
  });

  it("does without names", () => {
    const nameless = {
      ...ADA,
      name: null,
      first_name: null,
      job_title: null,
      references: [{ ...references[0]!, name: null }],
    };
    const [toCandidate, toReferee] = messages(nameless);
    expect(toCandidate?.text).to.match(/^Hello,\n\nAcme needs these documents from you:\n/);
    expect(toCandidate?.to.name).to.equal("");
    expect(toReferee?.subject).to.equal("A reference");
    expect(toReferee?.text).to.match(/^Hello,\n\nA candidate has named you as a reference\. /);
    expect(messages({ ...ADA, name: null, last_name: "King" })[0]?.to.name).to.equal("Ada King");
  });

  it("takes names, reasons and notes as text: no markup, and no line of their own in a list or a subject", () => {
    const evil = "<img src=x onerror=alert(1)>\r\nBcc: victim@example.com";
    const record = {
      ...ADA,
      name: evil,
      first_name: null,
      job_title: evil,
      documents: [requestedDocument("doc_1", { name: evil, state: "rejected", rejection_reason: evil })],
      references: [{ ...references[0]!, name: evil }],
    };
    for (const { html, text, subject } of messages(record, { display_name: evil, instructions: evil })) {
      expect(html).to.contain("&lt;img src=x onerror=alert(1)&gt;").and.not.to.contain("<img");
      expect(subject).not.to.match(/[\r\n]/);
      expect(
        text
          .split("\n")
          .filter((line) => line.startsWith("- <img"))
          .every((line) => line.includes("Bcc")),
      ).to.equal(true);
    }
  });

  it("shortens long names and reasons, so that no mail program cuts it off", () => {
    const long = Array.from({ length: 200 }, (_, n) =>
      requestedDocument(`doc_${n}`, { name: "漢".repeat(500), state: "rejected", rejection_reason: "é".repeat(1_000) }),
    );
    const [message] = messages(startedCandidate({ documents: long }));
    expect(Buffer.byteLength(message?.text ?? "")).to.be.below(150_000);
    expect(message?.text).to.contain(`- ${"漢".repeat(119)}… (not accepted: ${"é".repeat(105)}…)\n`);
    const exact = requestedDocument("doc_1", { name: "x".repeat(120) });
    expect(messages(startedCandidate({ documents: [exact] }))[0]?.text).to.contain(`- ${"x".repeat(120)}\n`);
  });

  it("loads nothing and follows nobody: its only links are the page and the stop", () => {
    for (const { html } of messages()) {
      expect(html).not.to.match(/<(img|script|link|iframe|style)|url\(|src=/i);
      const links = [...html.matchAll(/https?:[^"<\s]+/g)].map(([link]) => link);
      expect(new Set(links)).to.deep.equal(
        new Set(["https://hire.example.com/u/token", "https://hire.example.com/u/token/stop"]),
      );
    }
  });

  it("has lines of at most 78 characters, but for long words", () => {
    for (const { language } of LANGUAGES)
      for (const { text } of messages(
        { ...ADA, documents: [documents[0]!] },
        { language, instructions: "word ".repeat(60) },
      ))
        for (const line of text.split("\n")) expect(line.length, line).to.be.below(79);
  });
});
