import { abridge, type Abridger, CUT } from "./abridge.ts";
import { answersOf, questionsOf } from "./answers.ts";
import { printable, printableLine } from "./printable.ts";
import type { Pack } from "./schema.ts";
import type { Item, Row, Sheet } from "./sheet-types.ts";
import { DOCUMENT_TONES, NONE, REFERENCE_TONES, type Wording, wordingOf } from "./wording.ts";

/** Says that no font has `count` different characters of a pack. */
export function unprinted(language: string, count: number): string {
  const { say, number } = wordingOf(language);
  return `${say("unprinted", number(count))} ${say("full_text")}`;
}

/**
 * Converts a pack to the text that its PDF shows. A pack of more text than anybody would print is abridged, so that no PDF
 * takes more than 5 s and 250 MB.
 */
export function sheetOf(pack: Pack): Sheet {
  const wording = wordingOf(pack.language);
  return abridge((abridger) => new Sheets(abridger, wording).sheetOf(pack));
}

/** The codes of `missing` that make a candidate action_required. */
const BLOCKER = /^(document_(rejected|expired)|reference_(declined|bounced|unresponsive))$/;

class Sheets {
  readonly #abridger: Abridger;
  readonly #in: Wording;

  constructor(abridger: Abridger, wording: Wording) {
    this.#abridger = abridger;
    this.#in = wording;
  }

  sheetOf(pack: Pack): Sheet {
    const { say, number, moment } = this.#in;
    const { required, received, outstanding } = pack.reference_requirements;
    const version = String(pack.pack_version);
    const sheet = {
      lang: pack.language,
      title: say("title", pack.candidate_id, version),
      made_at: pack.generated_at,
      words: this.#words(pack),
      candidate: this.#candidate(pack),
      footer: say("footer", pack.candidate_id, version, moment(pack.generated_at)),
      complete: pack.complete,
      missing: pack.missing.map((wait) => this.#missing(wait, pack)),
      documents: pack.documents.map((document, index) => this.#documentItem(document, index)),
      references: pack.references.map((reference, index) => this.#referenceItem(reference, index)),
      references_summary: say("references_summary", ...[required, received, outstanding].map(number)),
    };
    const notices = this.#abridger.abridged ? [`${say("abridged", CUT.trim())} ${say("full_text")}`] : [];
    return { ...sheet, notices };
  }

  /** Returns what the template says by itself. `page` keeps its places: only the typesetter knows the numbers. */
  #words({ documents, references }: Pack): Sheet["words"] {
    const { say, number } = this.#in;
    const names = ["complete", "incomplete", "nothing_missing", "no_documents", "no_references"] as const;
    const headings = ["missing", "labels", "label", "value", "question", "answer"] as const;
    return {
      ...Object.fromEntries([...names, ...headings].map((name) => [name, say(name)])),
      pack: say("pack").toUpperCase(),
      page: say("page", "{0}", "{1}"),
      documents: say("documents", number(documents.length)),
      references: say("references", number(references.length)),
    };
  }

  #nameOf({ name, first_name, last_name }: Pack["candidate"]): string | null {
    const fullName = name ?? [first_name, last_name].filter((part) => part !== null).join(" ");
    return fullName.trim() === "" ? null : this.#line(fullName);
  }

  #candidate(pack: Pack): Sheet["candidate"] {
    const { say, day, moment } = this.#in;
    const { candidate, account } = pack;
    return {
      name: this.#nameOf(candidate) ?? say("nameless"),
      rows: [
        [say("first_name"), this.#line(candidate.first_name)],
        [say("last_name"), this.#line(candidate.last_name)],
        [say("phone"), this.#line(candidate.phone)],
        [say("job_title"), this.#line(candidate.job_title)],
        [say("start_date"), day(candidate.start_date)],
        [say("added"), moment(candidate.created_at)],
        [say("started"), moment(candidate.started_at)],
        [say("state"), say(`candidate_${candidate.state}`)],
      ],
      wide: [
        ...this.#reason(pack),
        [say("email"), this.#line(candidate.email)],
        [say("external_id"), this.#line(candidate.external_id)],
        [say("candidate_id"), pack.candidate_id],
        [say("pack_version"), String(pack.pack_version)],
        [say("made"), moment(pack.generated_at)],
        [say("made_for"), `${this.#line(account.name)} (${account.id})`],
      ],
      labels: this.#labels(candidate.metadata),
    };
  }

  #reason(pack: Pack): Row[] {
    const { state, state_reason } = pack.candidate;
    const blocker = state === "action_required" ? pack.missing.find(({ code }) => BLOCKER.test(code)) : undefined;
    if (blocker !== undefined) return [[this.#in.say("reason"), this.#missing(blocker, pack)]];
    return this.#optional(this.#in.say("reason"), state_reason);
  }

  #missing({ code, subject, message }: Pack["missing"][number], pack: Pack): string {
    const document = pack.documents.find(({ id }) => id === subject);
    const referee = pack.references.find(({ id }) => id === subject);
    const needed = pack.reference_requirements.required - pack.references.length;
    const about =
      code === "references_missing" ? this.#in.number(needed) : (document?.name ?? refereeOf(referee) ?? "");
    const why = code === "document_rejected" && document?.rejection_reason ? `: ${document.rejection_reason}` : "";
    const text = this.#in.missing(code, about.trim());
    return this.#text(text === undefined ? message : text + why);
  }

  #documentItem(document: Pack["documents"][number], index: number): Item {
    const { say, day, moment, bytes } = this.#in;
    const { id, name, state, required, content, expires_on, rejection_reason } = document;
    return {
      number: String(index + 1),
      name: this.#line(name),
      state: say(`document_${state}`),
      tone: DOCUMENT_TONES[state],
      rows: [
        [say("required"), say(required ? "yes" : "no")],
        [say("expires"), day(expires_on)],
        [say("uploaded"), moment(content?.uploaded_at ?? null)],
        [say("size"), content === null ? say("no_content") : bytes(content.size)],
      ],
      wide: [
        ...this.#optional(say("rejected_because"), rejection_reason),
        ...(content === null ? [] : this.#contentRows(content)),
        ...this.#history(document),
        [say("document_id"), id],
      ],
      labels: this.#labels(document.metadata),
      answered: null,
      questions: [],
      answers: [],
    };
  }

  #contentRows({ filename, content_type, sha256 }: NonNullable<Pack["documents"][number]["content"]>): Row[] {
    const { say } = this.#in;
    return [
      ...this.#optional(say("file_name"), filename),
      [say("type"), this.#line(content_type)],
      ["SHA-256", sha256],
    ];
  }

  /** As lines: as a table they would take 30 MB more in the largest pack. */
  #history({ created_at, updated_at, chase }: Pack["documents"][number] | Pack["references"][number]): Row[] {
    const { say, number, moment } = this.#in;
    return [
      [say("added"), moment(created_at)],
      [say("changed"), moment(updated_at)],
      [
        say("reminders"),
        chase.last_at === null
          ? number(chase.attempts)
          : say("reminded", number(chase.attempts), moment(chase.last_at)),
      ],
    ];
  }

  #referenceItem(reference: Pack["references"][number], index: number): Item {
    const { say, moment } = this.#in;
    const { id, name, company, job_title, relationship, email, phone, state, requested_at, received_at, response } =
      reference;
    const by = received_at === null ? null : say("answered", refereeOf(reference) ?? "", moment(received_at));
    return {
      number: String(index + 1),
      name: this.#line(name, say("nameless_referee")),
      state: say(`reference_${state}`),
      tone: REFERENCE_TONES[state],
      rows: [
        [say("company"), this.#line(company)],
        [say("job_title"), this.#line(job_title)],
        [say("relationship"), this.#line(relationship)],
        [say("phone"), this.#line(phone)],
        [say("requested"), moment(requested_at)],
        [say("received"), moment(received_at)],
      ],
      wide: [[say("email"), this.#line(email)], ...this.#history(reference), [say("reference_id"), id]],
      labels: this.#labels(reference.metadata),
      answered: response === null || by === null ? null : this.#line(by),
      ...this.#answers(response),
    };
  }

  #answers(response: Pack["references"][number]["response"]): Pick<Item, "questions" | "answers"> {
    const { say } = this.#in;
    const questions = questionsOf(response);
    if (questions !== null) {
      const texts = questions.map(([question, answer]) => (): Row => [this.#text(question), this.#text(answer)]);
      return { questions: this.#first(texts, questions.length), answers: [] };
    }
    const { shown, more } = answersOf(response, this.#abridger.maxAnswers, [say("yes"), say("no")]);
    const texts = shown.map(([question, answer]) => (): Row => [this.#line(question), this.#text(answer)]);
    return { questions: [], answers: this.#first(texts, shown.length + more) };
  }

  #labels(metadata: Pack["candidate"]["metadata"]): Row[] {
    const texts = Object.entries(metadata).map(([name, value]) => (): Row => [this.#line(name), this.#text(value)]);
    return this.#first(texts, texts.length);
  }

  /** Returns the first rows, as many as may be shown, and one that says how many more of `total` there are. */
  #first(rows: readonly (() => Row)[], total: number): Row[] {
    const shown = rows.slice(0, this.#abridger.maxAnswers).map((row) => row());
    if (shown.length === total) return shown;
    this.#abridger.abridged = true;
    return [...shown, [CUT.trim(), this.#in.say("more", this.#in.number(total - shown.length))]];
  }

  #line(text: string | null, otherwise = NONE): string {
    return printableLine(this.#abridger.cut(text ?? "")) || otherwise;
  }

  #text(text: string): string {
    return printable(this.#abridger.cut(text)) || NONE;
  }

  #optional(label: string, text: string | null): Row[] {
    return text === null ? [] : [[label, this.#text(text)]];
  }
}

/** Returns the referee's name, else the address, else the reference's id. */
function refereeOf(reference: Pack["references"][number] | undefined): string | null {
  return reference === undefined ? null : reference.name?.trim() || (reference.email ?? reference.id);
}
