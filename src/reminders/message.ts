import { type CandidateRecord, type ReferenceRecord, TO_CANDIDATE } from "../candidates/record.ts";
import { type Html, html } from "../infra/html.ts";
import type { Assistant } from "../settings/schema.ts";
import { shown, shownName } from "../visible-text.ts";
import { wordsOf } from "./languages/language.ts";
import type { NamedDocument, Words } from "./languages/words.ts";
import type { PlannedMessage } from "./plan.ts";

/** A name and an address. The name is empty if it is not known. */
export interface Address {
  readonly name: string;
  readonly address: string;
}

export interface Message {
  /** Without angle brackets. */
  readonly messageId: string;
  readonly from: Address;
  readonly to: Address;
  readonly replyTo: string | null;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** Stops further messages by a POST, without a question (RFC 8058). */
  readonly stopUrl: string;
  /** The language that it is written in: a language tag (BCP 47). */
  readonly language: string;
}

export interface Ingredients {
  readonly record: CandidateRecord;
  readonly message: PlannedMessage;
  readonly messageId: string;
  readonly assistant: Assistant;
  /** Who asks (senderOf). */
  readonly sender: string;
  /** The host of PUBLIC_URL. */
  readonly host: string;
  readonly mailFrom: string;
  /** The page that the message leads to, and the one that stops further messages. */
  readonly pageUrl: string;
  readonly stopUrl: string;
}

/** The parts of a message's body, in their order. */
interface Body {
  readonly hello: string;
  readonly ask: string;
  readonly documents: readonly NamedDocument[];
  readonly instructions: string | null;
  readonly open: string;
  readonly button: string;
  readonly stop: string;
}

/** Makes a message to the candidate or to a referee. Pure. */
export function messageOf(ingredients: Ingredients): Message {
  const { record, message, messageId, assistant, sender, host, mailFrom, stopUrl } = ingredients;
  const words = wordsOf(assistant.language);
  const reference = record.references.find(({ id }) => id === message.to);
  const { subject, again, name, firstName, ask, documents, texts } =
    message.to === TO_CANDIDATE || reference === undefined
      ? toCandidate(ingredients, words, sender)
      : toReferee(record, { reference, words, sender });
  const { open, button } = texts;
  const instructions = assistant.instructions === null ? null : withoutGaps(assistant.instructions);
  const hello = words.hello({ name, firstName });
  const body: Body = { hello, ask, documents, instructions, open, button, stop: words.stop(sender) };
  return {
    messageId,
    from: { name: inHeader(`${shortened(sender, MAX_IN_HEADER)} via ${host}`), address: mailFrom },
    to: { name: inHeader(name ?? ""), address: message.email },
    replyTo: assistant.reply_to,
    subject: inHeader(again ? `${words.reminder}${words.colon} ${subject}` : subject),
    text: shown(textOf(body, ingredients)),
    html: htmlOf(body, ingredients, words).text,
    stopUrl,
    language: words.language,
  };
}

/** Maximum length of a name in a header, in characters. A longer one could tell a story of its own in the list of messages. */
const MAX_IN_HEADER = 60;

/** Returns a text with one blank line at most between others. Many blank lines would push the stop link out of sight. */
export function withoutGaps(text: string): string {
  const lines = text.split(/\r\n|[\n\v\f\r\u0085\u2028\u2029]/).map((line) => line.trimEnd());
  return lines.filter((line, n) => line !== "" || lines[n - 1] !== "").join("\n");
}

/** Returns a text as a header may have it: on one line, and with nothing that begins an encoded word (RFC 2047). */
function inHeader(text: string): string {
  return shownName(text).replaceAll("=?", "= ?");
}

interface Parts extends Pick<Body, "ask" | "documents"> {
  readonly subject: string;
  readonly again: boolean;
  readonly name: string | null;
  readonly firstName: string | null;
  readonly texts: Pick<Body, "open" | "button">;
}

function toCandidate({ record, message }: Ingredients, words: Words, sender: string): Parts {
  const listed = record.documents.filter(({ id }) => message.documents.includes(id));
  return {
    subject: words.documents.subject(shortened(sender, MAX_IN_HEADER)),
    again: listed.some(({ chase }) => chase.attempts > 1),
    name: onOneLine(nameOf(record)),
    firstName: onOneLine(record.first_name),
    ask: words.documents.ask(sender, onOneLine(record.job_title)) + words.colon,
    documents: listed as readonly NamedDocument[],
    texts: words.documents,
  };
}

function toReferee(
  record: CandidateRecord,
  { reference, words, sender }: { reference: ReferenceRecord; words: Words; sender: string },
): Parts {
  const person = onOneLine(nameOf(record));
  return {
    subject: words.pages.reference.title(person === null ? null : shortened(person, MAX_IN_HEADER)),
    again: reference.chase.attempts > 1,
    name: onOneLine(reference.name),
    firstName: null,
    ask: words.reference.ask(person, sender),
    documents: [],
    texts: words.reference,
  };
}

/** Names with line breaks could pass for text of the message. */
function onOneLine(name: string | null): string | null {
  return name === null ? null : shownName(name) || null;
}

/** Returns a candidate's name, in whichever fields it is. */
export function nameOf({
  name,
  first_name,
  last_name,
}: Pick<CandidateRecord, "name" | "first_name" | "last_name">): string | null {
  return name ?? ([first_name, last_name].filter(Boolean).join(" ") || null);
}

/**
 * Longest name and note of a document in a message, in characters. Some mail programs cut off a message of more than 102 kB.
 * The page behind the link shows the whole text.
 */
const MAX_ITEM = 120;

/** What follows a document's name: why it is asked for again, or that it is not required. */
export function noteOf({ state, required, rejection_reason }: NamedDocument, words: Words): string | undefined {
  if (state === "rejected")
    return rejection_reason === null ? words.rejected : `${words.rejected}${words.colon} ${rejection_reason}`;
  if (state === "expired") return words.expired;
  return required ? undefined : words.optional;
}

function textOf(
  { hello, ask, documents, instructions, open, stop }: Body,
  { pageUrl, stopUrl, assistant }: Ingredients,
): string {
  const words = wordsOf(assistant.language);
  const list = documents.map((document) => {
    const { name, note } = itemOf(document, words);
    return `- ${name}${note === undefined ? "" : ` (${note})`}`;
  });
  const paragraphs = [
    hello,
    wrapped(ask),
    list.join("\n"),
    wrapped(instructions ?? ""),
    `${wrapped(open)}\n${pageUrl}`,
    `-- \n${wrapped(stop)}\n${stopUrl}`, // what follows "-- " is a signature (RFC 3676, 4.3)
  ];
  return `${paragraphs.filter((paragraph) => paragraph !== "").join("\n\n")}\n`;
}

/** Breaks lines at spaces before the 72nd character, as RFC 5322 (2.1.1) recommends. */
function wrapped(text: string): string {
  const lines = text.split("\n");
  return lines.map((line) => line.replaceAll(/(.{1,72})(?: +|$)/g, "$1\n").trimEnd()).join("\n");
}

const FONT =
  "font-family:system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;font-size:16px;line-height:1.5";
const BUTTON =
  "display:inline-block;padding:12px 20px;border-radius:6px;background:#1d4ed8;color:#ffffff;text-decoration:none";

/** A layout that every mail client shows: one column, inline styles, no image, nothing from elsewhere. */
function htmlOf(body: Body, { pageUrl, stopUrl }: Ingredients, words: Words): Html {
  const { hello, ask, documents, instructions, open, button, stop } = body;
  return html`<!doctype html>
    <html lang="${words.language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <meta name="format-detection" content="telephone=no,date=no,address=no,email=no,url=no" />
        <title>${ask}</title>
      </head>
      <body style="margin:0;padding:24px;${FONT}">
        <div style="max-width:560px;margin:0 auto;overflow-wrap:anywhere">
          <p>${hello}</p>
          <p>${ask}</p>
          ${
            documents.length > 0 &&
            html`<ul>
              ${documents.map((document) => listItem(itemOf(document, words)))}
            </ul>`
          }
          ${instructions !== null && html`<p style="white-space:pre-line">${instructions}</p>`}
          <p>${open}</p>
          <p><a href="${pageUrl}" style="${BUTTON}">${button}</a></p>
          <p style="margin-top:32px;font-size:13px">${stop} <a href="${stopUrl}">${stopUrl}</a></p>
        </div>
      </body>
    </html> `;
}

interface Item {
  readonly name: string;
  readonly note: string | undefined;
}

function itemOf(document: NamedDocument, words: Words): Item {
  const note = noteOf(document, words);
  return { name: shortened(document.name), note: note === undefined ? undefined : shortened(note) };
}

function listItem({ name, note }: Item): Html {
  return html`<li><strong>${name}</strong>${note !== undefined && html` (${note})`}</li>`;
}

export function shortened(text: string, longest = MAX_ITEM): string {
  const line = shownName(text);
  const characters = Array.from(line);
  return characters.length <= longest ? line : `${characters.slice(0, longest - 1).join("")}…`;
}
