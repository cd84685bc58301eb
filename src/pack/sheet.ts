import { abridge, type Abridger, CUT } from "./abridge.ts";
import { answersOf } from "./answers.ts";
import { printable, printableLine } from "./printable.ts";
import type { Pack } from "./schema.ts";
import { DOCUMENT_TONES, type Key, NONE, REFERENCE_TONES, type Tone, type Wording, wordingIn } from "./wording.ts";

type Document = Pack["documents"][number];
type Reference = Pack["references"][number];

/** A label, by its key in wording.csv, and its value. */
type Row = readonly [label: Key, value: string];

/** What clients and referees have named themselves. Has a heading, and at least one row. */
type Table = readonly [heading: string, rows: readonly (readonly [name: string, value: string])[]];

/** The input of the template pack.typ. All of its text is safe to print. */
export interface Sheet {
  readonly lang: string;
  readonly words: Wording["words"];
  readonly title: string;
  readonly made_at: string;
  readonly candidate: Pick<Item, "name" | "rows" | "wide" | "tables">;
  readonly footer: string;
  /** Says what is not shown, and where it is. Empty if all is shown. */
  readonly notices: readonly string[];
  readonly complete: boolean;
  readonly missing: readonly string[];
  readonly documents: readonly Item[];
  readonly references: readonly Item[];
  readonly references_summary: string;
}

interface Item {
  readonly number: string;
  readonly name: string;
  readonly state: Key;
  readonly tone: Tone;
  /** Short values, two on a line. */
  readonly rows: readonly Row[];
  /** Values that may be long, or are read character by character: one on a line. */
  readonly wide: readonly Row[];
  readonly tables: readonly Table[];
}

/** Says that no font has `count` different characters of a pack. */
export function unprinted({ lang }: Sheet, count: number): string {
  const { say, number } = wordingIn(lang);
  return `${say("unprinted", number(count))} ${say("full_text")}`;
}

/**
 * Converts a pack to the text that its PDF shows. A pack of more text than anybody would print is abridged, so that no PDF
 * takes more than 5 s and 250 MB.
 */
export function sheetOf(pack: Pack): Sheet {
  const wording = wordingIn(pack.language);
  return abridge((abridger) => new Sheets(abridger, wording).sheetOf(pack));
}

class Sheets {
  readonly #abridger: Abridger;
  readonly #wording: Wording;

  constructor(abridger: Abridger, wording: Wording) {
    this.#abridger = abridger;
    this.#wording = wording;
  }

  sheetOf(pack: Pack): Sheet {
    const { words, say, number, moment } = this.#wording;
    const { required, received, outstanding } = pack.reference_requirements;
    const title = say("title", pack.candidate_id, String(pack.pack_version));
    const sheet = {
      lang: pack.language,
      words,
      title,
      made_at: pack.generated_at,
      candidate: this.#candidate(pack),
      footer: `${title} · ${moment(pack.generated_at)}`,
      complete: pack.complete,
      missing: pack.missing.map((wait) => this.#text(this.#missing(wait, pack))),
      documents: pack.documents.map((document, index) => this.#documentItem(document, index)),
      references: pack.references.map((reference, index) => this.#referenceItem(reference, index)),
      references_summary: say("references_summary", ...[required, received, outstanding].map(number)),
    };
    return { ...sheet, notices: this.#abridger.abridged ? [`${say("abridged", CUT.trim())} ${say("full_text")}`] : [] };
  }

  #candidate(pack: Pack): Sheet["candidate"] {
    const { say, day, moment } = this.#wording;
    const { candidate, account } = pack;
    const wait = pack.missing.find(({ message }) => message === candidate.state_reason);
    return {
      name: this.#line(this.#nameOf(candidate)),
      rows: [
        ["first_name", this.#line(candidate.first_name)],
        ["last_name", this.#line(candidate.last_name)],
        ["phone", this.#line(candidate.phone)],
        ["job_title", this.#line(candidate.job_title)],
        ["start_date", day(candidate.start_date)],
        ["added", moment(candidate.created_at)],
        ["started", moment(candidate.started_at)],
        ["state", say(`candidate_${candidate.state}`)],
      ],
      wide: [
        ...this.#optional("reason", wait === undefined ? candidate.state_reason : this.#missing(wait, pack)),
        ["email", this.#line(candidate.email)],
        ["external_id", this.#line(candidate.external_id)],
        ["id", pack.candidate_id],
        ["made", moment(pack.generated_at)],
        ["made_for", `${this.#line(account.name)} (${account.id})`],
      ],
      tables: this.#table(say("labels"), candidate.metadata),
    };
  }

  /** Says in the pack's language what `message` says in English. */
  #missing({ code, subject, message }: Pack["missing"][number], { candidate, documents, references, ...pack }: Pack) {
    const { say, number } = this.#wording;
    const document = documents.find(({ id }) => id === subject);
    const referee = references.find(({ id }) => id === subject);
    const person = referee === undefined ? this.#nameOf(candidate) : this.#nameOfReferee(referee);
    const live = references.filter(({ state }) => REFERENCE_TONES[state] !== "aside").length;
    const about = code === "references_missing" ? number(pack.reference_requirements.required - live) : person;
    const key = `missing_${code.replace(/^(candidate|reference)_/, "")}` as const;
    // Without a reason, the sentence ends before the colon.
    const text = say(key, document?.name ?? about, document?.rejection_reason ?? "").replace(/\s*:\s*$/, "");
    return text || message;
  }

  #nameOf({ name, first_name, last_name }: Pack["candidate"]): string {
    return (name ?? [first_name, last_name].filter(Boolean).join(" ")).trim() || this.#wording.say("nameless");
  }

  #nameOfReferee({ name, email }: Reference): string {
    return name?.trim() || (email ?? this.#wording.say("nameless_referee"));
  }

  #documentItem(document: Document, index: number): Item {
    const { say, day, moment, bytes } = this.#wording;
    const { name, state, required, content, expires_on, rejection_reason } = document;
    return {
      number: String(index + 1),
      name: this.#line(name),
      state: `document_${state}`,
      tone: DOCUMENT_TONES[state],
      rows: [
        ["required", say(required ? "yes" : "no")],
        ["expires", day(expires_on)],
        ["uploaded", moment(content?.uploaded_at ?? null)],
        ["size", content === null ? say("no_content") : bytes(content.size)],
      ],
      wide: [
        ...this.#optional("rejection_reason", rejection_reason),
        ...this.#optional("filename", content?.filename),
        ...this.#optional("content_type", content?.content_type),
        ...this.#optional("sha256", content?.sha256),
        ...this.#history(document),
      ],
      tables: this.#table(say("labels"), document.metadata),
    };
  }

  /** One on a line: in a table they would take 30 MB more in the largest pack. */
  #history({ created_at, updated_at, chase, id }: Document | Reference): Row[] {
    const { say, number, moment } = this.#wording;
    const attempts = number(chase.attempts);
    const reminders = chase.last_at === null ? attempts : say("reminded", attempts, moment(chase.last_at));
    return [
      ["added", moment(created_at)],
      ["changed", moment(updated_at)],
      ...this.#optional("reminders", chase.attempts === 0 ? null : reminders),
      ["id", id],
    ];
  }

  #referenceItem(reference: Reference, index: number): Item {
    const { say, moment } = this.#wording;
    const { name, company, job_title, relationship, email, phone, state, requested_at, received_at } = reference;
    const answered = say("answered", this.#nameOfReferee(reference), moment(received_at));
    return {
      number: String(index + 1),
      name: this.#line(name, say("nameless_referee")),
      state: `reference_${state}`,
      tone: REFERENCE_TONES[state],
      rows: [
        ["company", this.#line(company)],
        ["job_title", this.#line(job_title)],
        ["relationship", this.#line(relationship)],
        ["phone", this.#line(phone)],
        ["requested", moment(requested_at)],
        ["received", moment(received_at)],
      ],
      wide: [["email", this.#line(email)], ...this.#history(reference)],
      tables: [
        ...this.#table(say("labels"), reference.metadata),
        ...this.#table(received_at === null ? say("answers") : answered, reference.response),
      ],
    };
  }

  #table(heading: string, values: Record<string, unknown> | null): Table[] {
    const { say, number } = this.#wording;
    const { shown, more } = answersOf(values, this.#abridger.maxAnswers, [say("yes"), say("no")]);
    const rows = shown.map(([name, value]): Table[1][number] => [this.#line(name), this.#text(value)]);
    if (more > 0) {
      this.#abridger.abridged = true;
      rows.push([CUT.trim(), say("more", number(more))]);
    }
    return rows.length === 0 ? [] : [[this.#line(heading), rows]];
  }

  #line(text: string | null, otherwise = NONE): string {
    return printableLine(this.#abridger.cut(text ?? "")) || otherwise;
  }

  #text(text: string): string {
    return printable(this.#abridger.cut(text)) || NONE;
  }

  #optional(label: Key, text: string | null | undefined): Row[] {
    return text === null || text === undefined ? [] : [[label, this.#text(text)]];
  }
}
