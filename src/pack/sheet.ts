import { abridge, type Abridger, CUT } from "./abridge.ts";
import { answersOf } from "./answers.ts";
import { printable, printableLine } from "./printable.ts";
import type { Pack } from "./schema.ts";
import { bytes, DOCUMENT_TONES, moment, NONE, REFERENCE_TONES, type Tone, words } from "./wording.ts";

/** A label and its value, as the PDF shows them. */
type Row = readonly [label: string, value: string];

/** The input of the template pack.typ. All of its text is safe to print. */
export interface Sheet {
  readonly title: string;
  readonly made_at: string;
  readonly candidate: { readonly name: string; readonly rows: readonly Row[]; readonly wide: readonly Row[] };
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
  readonly state: string;
  readonly tone: Tone;
  /** Short values, two on a line. */
  readonly rows: readonly Row[];
  /** Values that may be long, or are read character by character: one on a line. */
  readonly wide: readonly Row[];
  readonly answers: readonly Row[];
}

const FULL_TEXT =
  "The full text is in the pack as JSON (?format=json), and in manifest.json of the pack as ZIP (?format=zip).";
const ABRIDGED = `This PDF is abridged, because the pack has too much text. Texts that end in “${CUT.trim()}” are cut. ${FULL_TEXT}`;

/** Says that no font has `count` different characters of a pack. */
export function unprinted(count: number): string {
  const which =
    count === 1
      ? "a box in place of 1 character"
      : `boxes in place of ${count.toLocaleString("en")} different characters`;
  return `This PDF shows ${which}, because no font of this service has ${count === 1 ? "it" : "them"}. ${FULL_TEXT}`;
}

/**
 * Converts a pack to the text that its PDF shows. A pack of more text than anybody would print is abridged, so that no PDF
 * takes more than 5 s and 250 MB.
 */
export function sheetOf(pack: Pack): Sheet {
  return abridge((abridger) => new Sheets(abridger).sheetOf(pack));
}

class Sheets {
  readonly #abridger: Abridger;

  constructor(abridger: Abridger) {
    this.#abridger = abridger;
  }

  sheetOf(pack: Pack): Sheet {
    const { required, received, outstanding } = pack.reference_requirements;
    const sheet = {
      title: `Compliance pack ${pack.candidate_id}, version ${pack.pack_version}`,
      made_at: pack.generated_at,
      candidate: { name: this.#nameOf(pack.candidate) ?? "Candidate without a name", ...this.#candidateRows(pack) },
      footer: `${pack.candidate_id}, pack version ${pack.pack_version}, made ${moment(pack.generated_at)}`,
      complete: pack.complete,
      missing: pack.missing.map(({ message }) => this.#text(message)),
      documents: pack.documents.map((document, index) => this.#documentItem(document, index)),
      references: pack.references.map((reference, index) => this.#referenceItem(reference, index)),
      references_summary: `${required} required, ${received} received, ${outstanding} outstanding`,
    };
    return { ...sheet, notices: this.#abridger.abridged ? [ABRIDGED] : [] };
  }

  #nameOf({ name, first_name, last_name }: Pack["candidate"]): string | null {
    const fullName = name ?? [first_name, last_name].filter((part) => part !== null).join(" ");
    return fullName.trim() === "" ? null : this.#line(fullName);
  }

  #candidateRows({ candidate, account, ...pack }: Pack): Pick<Item, "rows" | "wide"> {
    return {
      rows: [
        ["First name", this.#line(candidate.first_name)],
        ["Last name", this.#line(candidate.last_name)],
        ["Phone", this.#line(candidate.phone)],
        ["Job title", this.#line(candidate.job_title)],
        ["Start date", this.#line(candidate.start_date)],
        ["Started", moment(candidate.started_at)],
        ["State", words(candidate.state)],
        ["Pack version", String(pack.pack_version)],
      ],
      wide: [
        ...this.#optional("Reason", candidate.state_reason),
        ["Email", this.#line(candidate.email)],
        ["External id", this.#line(candidate.external_id)],
        ["Candidate id", pack.candidate_id],
        ["Made", moment(pack.generated_at)],
        ["Made for", `${this.#line(account.name)} (${account.id})`],
      ],
    };
  }

  #documentItem(document: Pack["documents"][number], index: number): Item {
    const { id, name, state, required, content, expires_on, rejection_reason } = document;
    return {
      number: String(index + 1),
      name: this.#line(name),
      state: words(state),
      tone: DOCUMENT_TONES[state],
      rows: [
        ["Required", required ? "Yes" : "No"],
        ["Expires", this.#line(expires_on)],
        ["Uploaded", moment(content?.uploaded_at ?? null)],
        ["Size", content === null ? "No content" : bytes(content.size)],
      ],
      wide: [
        ...this.#optional("Rejected because", rejection_reason),
        ...(content === null ? [] : this.#contentRows(content)),
        ["Document id", id],
      ],
      answers: [],
    };
  }

  #contentRows({ filename, content_type, sha256 }: NonNullable<Pack["documents"][number]["content"]>): Row[] {
    return [...this.#optional("File name", filename), ["Type", this.#line(content_type)], ["SHA-256", sha256]];
  }

  #referenceItem(reference: Pack["references"][number], index: number): Item {
    const { id, name, company, job_title, relationship, email, phone, state, requested_at, received_at, response } =
      reference;
    return {
      number: String(index + 1),
      name: this.#line(name, "Reference without a name"),
      state: words(state),
      tone: REFERENCE_TONES[state],
      rows: [
        ["Company", this.#line(company)],
        ["Job title", this.#line(job_title)],
        ["Relationship", this.#line(relationship)],
        ["Phone", this.#line(phone)],
        ["Requested", moment(requested_at)],
        ["Received", moment(received_at)],
      ],
      wide: [
        ["Email", this.#line(email)],
        ["Reference id", id],
      ],
      answers: this.#answers(response),
    };
  }

  #answers(response: Pack["references"][number]["response"]): Row[] {
    const { shown, more } = answersOf(response, this.#abridger.maxAnswers);
    const rows = shown.map(([question, answer]): Row => [this.#line(question), this.#text(answer)]);
    if (more === 0) return rows;
    this.#abridger.abridged = true;
    return [...rows, [CUT.trim(), `${more.toLocaleString("en")} more ${more === 1 ? "answer" : "answers"}`]];
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
