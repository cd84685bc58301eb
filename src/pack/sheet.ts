import { abridge, type Abridger, beginningOf, CUT } from "./abridge.ts";
import { answersOf } from "./answers.ts";
import { printable, printableLine } from "./printable.ts";
import type { Pack } from "./schema.ts";
import { DOCUMENT_TONES, type Key, NONE, REFERENCE_TONES, type Tone, type Wording, wordingIn } from "./wording.ts";

type Document = Pack["documents"][number];
type Reference = Pack["references"][number];

/** A label, by its key in wording.json, and its value. */
type Row = readonly [label: Key, value: string];

/** What clients and referees have named themselves. Has a heading, and at least one row. */
type Table = readonly [heading: string, rows: readonly (readonly [name: string, value: string])[]];

/** What was decided, how and when, and by whom. */
type Decision = readonly [what: string, decision: string, who: string];

/** When a message was made, and for whom. */
type Message = readonly [at: string, to: string];

/** The input of the template pack.typ. All of its text is safe to print. */
export type Sheet = ReturnType<typeof sheetWith>;

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

/** Converts a pack to the text of its PDF, abridged if it is long: no PDF takes more than 5 s and 250 MB. */
export function sheetOf(pack: Pack): Sheet {
  const wording = wordingIn(pack.language);
  return abridge((abridger) => sheetWith(abridger, wording, pack));
}

function sheetWith(abridger: Abridger, { words, say, number, day, moment, bytes }: Wording, pack: Pack) {
  const { required, received, outstanding } = pack.reference_requirements;
  const title = say("title", pack.candidate_id, String(pack.pack_version));
  const sheet = {
    lang: pack.language,
    words,
    title,
    made_at: pack.generated_at,
    candidate: candidateItem(pack),
    footer: `${title} · ${moment(pack.generated_at)}`,
    complete: pack.complete,
    missing: pack.missing.map((wait) => lines(missing(wait))),
    documents: pack.documents.map(documentItem),
    references: pack.references.map(referenceItem),
    references_summary: say("references_summary", ...[required, received, outstanding].map(number)),
    decisions: [
      ...pack.documents.flatMap((each, n) => decisionOf(each, `document_${each.state}`, n, each.name)),
      ...pack.references.flatMap((each, n) => decisionOf(each, `reference_${each.state}`, n, nameOfReferee(each))),
    ],
    messages: messages(pack),
  };
  /** Says what is not shown, and where it is. Empty if all is shown. */
  const notices = abridger.abridged ? [`${say("abridged", CUT.trim())} ${say("full_text")}`] : [];
  return { ...sheet, notices };

  function candidateItem({ candidate, account }: Pack): Omit<Item, "number" | "state" | "tone"> {
    const wait = pack.missing.find(({ message }) => message === candidate.state_reason);
    return {
      name: line(nameOf(candidate)),
      rows: [
        ...named(candidate, "first_name", "last_name", "phone", "job_title"),
        ["start_date", day(candidate.start_date)],
        ["added", moment(candidate.created_at)],
        ["started", moment(candidate.started_at)],
        ["state", say(`candidate_${candidate.state}`)],
      ],
      wide: [
        ...optional("reason", wait ? missing(wait) : candidate.state_reason),
        ...named(candidate, "email", "external_id"),
        ["id", pack.candidate_id],
        ["made", moment(pack.generated_at)],
        ["made_for", `${line(account.name)} (${account.id})`],
      ],
      tables: table(say("labels"), candidate.metadata),
    };
  }

  /** Says in the pack's language what `message` says in English. */
  function missing({ code, subject, message }: Pack["missing"][number]): string {
    const document = pack.documents.find(({ id }) => id === subject);
    const referee = pack.references.find(({ id }) => id === subject);
    const person = referee === undefined ? nameOf(pack.candidate) : nameOfReferee(referee);
    const live = pack.references.filter(({ state }) => REFERENCE_TONES[state] !== "aside").length;
    const about = code === "references_missing" ? number(required - live) : person;
    const key = `missing_${code.replace(/^(candidate|reference)_/, "")}` as const;
    // Without a reason, the sentence ends before the colon.
    const text = say(key, document?.name ?? about, document?.rejection_reason ?? "").replace(/\s*:\s*$/, "");
    return text || message;
  }

  function decisionOf({ decided }: Document | Reference, state: Key, index: number, name: string): Decision[] {
    if (decided === null) return [];
    const { at, by, decided_by } = decided;
    const person = personOf(by.id);
    const [key, operator] = [say("by_key", nameOfKey(by.id)), say("by_operator", by.id)];
    const who = { key, operator, service: say("by_service"), candidate: person, referee: person }[by.type];
    // Who it was comes first: it is what the service knows, and a long statement may be cut.
    const stated = line(decided_by === null ? who : `${who}: ${decided_by}`);
    return [[`${index + 1} ${beginning(name)}`, `${say(state)}, ${moment(at)}`, stated]];
  }

  /** The whole name stands above. */
  function beginning(name: string): string {
    return line(name.length > 30 ? `${beginningOf(name, 25)}…` : name);
  }

  function nameOfKey(keyId: string): string {
    const name = pack.account.keys.find(({ id }) => id === keyId)?.name;
    return name === undefined ? keyId : `${beginning(name)}, ${keyId}`;
  }

  function personOf(id: string): string {
    const referee = pack.references.find((each) => each.id === id);
    if (referee !== undefined) return nameOfReferee(referee);
    return id === pack.candidate_id ? nameOf(pack.candidate) : id;
  }

  function messages({ history, history_complete }: Pack): Message[] {
    const sent = history.filter(({ action }) => action === "reminder_sent");
    if (sent.length > abridger.maxAnswers || !history_complete) abridger.abridged = true;
    return sent.slice(0, abridger.maxAnswers).map(({ at, subject }) => [moment(at), beginning(personOf(subject))]);
  }

  function nameOf({ name, first_name, last_name }: Pack["candidate"]): string {
    return (name ?? [first_name, last_name].filter(Boolean).join(" ")).trim() || say("nameless");
  }

  function nameOfReferee({ name, email }: Reference): string {
    return name?.trim() || (email ?? say("nameless_referee"));
  }

  function documentItem(document: Document, index: number): Item {
    const { name, state, required, content, expires_on, rejection_reason } = document;
    return {
      number: String(index + 1),
      name: line(name),
      state: `document_${state}`,
      tone: DOCUMENT_TONES[state],
      rows: [
        ["required", say(required ? "yes" : "no")],
        ["expires", day(expires_on)],
        ["uploaded", moment(content?.uploaded_at ?? null)],
        ["size", content === null ? say("no_content") : bytes(content.size)],
      ],
      wide: [
        ...optional("rejection_reason", rejection_reason),
        ...(["filename", "content_type", "sha256"] as const).flatMap((each) => optional(each, content?.[each])),
        ...history(document),
      ],
      tables: table(say("labels"), document.metadata),
    };
  }

  /** One on a line: in a table they would take 30 MB more in the largest pack. */
  function history({ created_at, updated_at, chase, id }: Document | Reference): Row[] {
    const attempts = number(chase.attempts);
    const reminders = chase.last_at === null ? attempts : say("reminded", attempts, moment(chase.last_at));
    return [
      ["added", moment(created_at)],
      ["changed", moment(updated_at)],
      ...optional("reminders", chase.attempts === 0 ? null : reminders),
      ["id", id],
    ];
  }

  function referenceItem(reference: Reference, index: number): Item {
    const { name, email, state, requested_at, received_at } = reference;
    const answered = say("answered", nameOfReferee(reference), moment(received_at));
    return {
      number: String(index + 1),
      name: line(name, say("nameless_referee")),
      state: `reference_${state}`,
      tone: REFERENCE_TONES[state],
      rows: [
        ...named(reference, "company", "job_title", "relationship", "phone"),
        ["requested", moment(requested_at)],
        ["received", moment(received_at)],
      ],
      wide: [["email", line(email)], ...history(reference)],
      tables: [
        ...table(say("labels"), reference.metadata),
        ...table(received_at === null ? say("answers") : answered, reference.response),
      ],
    };
  }

  function table(heading: string, values: Record<string, unknown> | null): Table[] {
    const { shown, more } = answersOf(values, abridger.maxAnswers, [say("yes"), say("no")]);
    const rows = shown.map(([name, value]): Table[1][number] => [line(name), lines(value)]);
    if (more > 0) {
      abridger.abridged = true;
      rows.push([CUT.trim(), say("more", number(more))]);
    }
    return rows.length === 0 ? [] : [[line(heading), rows]];
  }

  /** Rows of members, each with its name as the label. */
  function named<Name extends Key>(values: Readonly<Record<Name, string | null>>, ...names: readonly Name[]): Row[] {
    return names.map((name) => [name, line(values[name])]);
  }

  function line(text: string | null, otherwise = NONE): string {
    return printableLine(abridger.cut(text ?? "")) || otherwise;
  }

  function lines(text: string): string {
    return printable(abridger.cut(text)) || NONE;
  }

  function optional(label: Key, text: string | null | undefined): Row[] {
    return text === null || text === undefined ? [] : [[label, lines(text)]];
  }
}
