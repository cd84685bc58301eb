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
  readonly complete: boolean;
  readonly missing: readonly string[];
  readonly documents: readonly Item[];
  readonly references: readonly Item[];
  readonly references_summary: string;
}

/** A document or a reference. */
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

/** Converts a pack to the text that its PDF shows. */
export function sheetOf(pack: Pack): Sheet {
  const { required, received, outstanding } = pack.reference_requirements;
  return {
    title: `Compliance pack ${pack.candidate_id}, version ${pack.pack_version}`,
    made_at: pack.generated_at,
    candidate: { name: nameOf(pack.candidate) ?? "Candidate without a name", ...candidateRows(pack) },
    footer: `${pack.candidate_id}, pack version ${pack.pack_version}, made ${moment(pack.generated_at)}`,
    complete: pack.complete,
    missing: pack.missing.map(({ message }) => printable(message)),
    documents: pack.documents.map(documentItem),
    references: pack.references.map(referenceItem),
    references_summary: `${required} required, ${received} received, ${outstanding} outstanding`,
  };
}

function nameOf({ name, first_name, last_name }: Pack["candidate"]): string | null {
  const fullName = name ?? [first_name, last_name].filter((part) => part !== null).join(" ");
  return fullName.trim() === "" ? null : printableLine(fullName);
}

function candidateRows({ candidate, account, ...pack }: Pack): Pick<Item, "rows" | "wide"> {
  return {
    rows: [
      ["First name", line(candidate.first_name)],
      ["Last name", line(candidate.last_name)],
      ["Phone", line(candidate.phone)],
      ["Job title", line(candidate.job_title)],
      ["Start date", line(candidate.start_date)],
      ["Started", moment(candidate.started_at)],
      ["State", words(candidate.state)],
      ["Pack version", String(pack.pack_version)],
    ],
    wide: [
      ...optional("Reason", candidate.state_reason),
      ["Email", line(candidate.email)],
      ["External id", line(candidate.external_id)],
      ["Candidate id", pack.candidate_id],
      ["Made", moment(pack.generated_at)],
      ["Made for", `${line(account.name)} (${account.id})`],
    ],
  };
}

function documentItem(document: Pack["documents"][number], index: number): Item {
  const { id, name, state, required, content, expires_on, rejection_reason } = document;
  return {
    number: String(index + 1),
    name: line(name),
    state: words(state),
    tone: DOCUMENT_TONES[state],
    rows: [
      ["Required", required ? "Yes" : "No"],
      ["Expires", line(expires_on)],
      ["Uploaded", moment(content?.uploaded_at ?? null)],
      ["Size", content === null ? "No content" : bytes(content.size)],
    ],
    wide: [
      ...optional("Rejected because", rejection_reason),
      ...(content === null ? [] : contentRows(content)),
      ["Document id", id],
    ],
    answers: [],
  };
}

function contentRows({ filename, content_type, sha256 }: NonNullable<Pack["documents"][number]["content"]>): Row[] {
  return [...optional("File name", filename), ["Type", line(content_type)], ["SHA-256", sha256]];
}

function referenceItem(reference: Pack["references"][number], index: number): Item {
  const { id, name, company, job_title, relationship, email, phone, state, requested_at, received_at, response } =
    reference;
  return {
    number: String(index + 1),
    name: printableLine(name ?? "") || "Reference without a name",
    state: words(state),
    tone: REFERENCE_TONES[state],
    rows: [
      ["Company", line(company)],
      ["Job title", line(job_title)],
      ["Relationship", line(relationship)],
      ["Phone", line(phone)],
      ["Requested", moment(requested_at)],
      ["Received", moment(received_at)],
    ],
    wide: [
      ["Email", line(email)],
      ["Reference id", id],
    ],
    answers: answersOf(response).map(([question, answer]) => [line(question), printable(answer) || NONE]),
  };
}

function line(text: string | null): string {
  return printableLine(text ?? "") || NONE;
}

function optional(label: string, text: string | null): Row[] {
  return text === null ? [] : [[label, printable(text) || NONE]];
}
