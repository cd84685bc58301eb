import type { CandidateRecord, DocumentRecord, ReferenceRecord } from "../candidates/record.ts";
import { nameOf } from "../candidates/states.ts";
import { type Html, html } from "../schema/html.ts";
import { shown, shownName } from "../schema/visible-text.ts";
import type { Words } from "./languages/en.ts";
import { dateIn } from "./languages/formats.ts";
import { wordsOf } from "./languages/language.ts";
import type { PlannedMessage } from "./plan.ts";
import type { AccountRules } from "./rules.ts";

/** The name is empty if it is not known. */
type Address = Readonly<{ name: string; address: string }>;

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

/** What a message is made of, once its attempt is recorded. */
export interface Attempt {
  /** The candidate, with this attempt. */
  readonly record: CandidateRecord;
  readonly message: PlannedMessage;
  readonly messageId: string;
  readonly language: string;
  /** True if earlier messages to the recipient went to another address. */
  readonly isNewAddress: boolean;
  /** The page that the message leads to, and the one that stops further messages. */
  readonly pageUrl: string;
  readonly stopUrl: string;
  /** When they expire. RFC 3339. */
  readonly expires_at: string;
}

/** The parts of a message's body, in their order. */
interface Body extends Pick<Attempt, "pageUrl" | "stopUrl"> {
  readonly hello: string;
  /** What has changed since the last message: sentences. */
  readonly news: readonly string[];
  readonly ask: string;
  /** The documents that are asked for, with their notes (noteOf). */
  readonly items: readonly { readonly name: string; readonly note: string }[];
  readonly instructions: string | null;
  readonly open: string;
  readonly button: string;
  readonly stop: string;
}

export function messageOf(
  { record, message, messageId, language, isNewAddress, pageUrl, stopUrl, expires_at }: Attempt,
  { assistant, sender }: Pick<AccountRules, "assistant" | "sender">,
  { host, mailFrom }: { readonly host: string; readonly mailFrom: string },
): Message {
  const words = wordsOf(language);
  const reference = record.references.find(({ id }) => id === message.to);
  const { subject, again, name, why, ...parts } =
    reference === undefined ? toCandidate(record, message, words, sender) : toReferee(record, reference, words, sender);
  const until = words.pages.until(dateIn(words, expires_at));
  const instructions = assistant.instructions && withoutGaps(assistant.instructions);
  const stop = `${words.pages.behalf(sender)} ${why} ${until} ${words.stop(sender)}`;
  const body = { ...parts, instructions, stop, pageUrl, stopUrl };
  return {
    messageId,
    from: { name: inHeader(`${shortened(sender, MAX_IN_HEADER)} via ${host}`), address: mailFrom },
    to: { name: inHeader(name ?? ""), address: message.email },
    replyTo: assistant.reply_to,
    subject: inHeader(again && !isNewAddress ? `${words.reminder}${words.colon} ${subject}` : subject),
    text: shown(textOf(body)),
    html: htmlOf(body, words.language).text,
    stopUrl,
    language: words.language,
  };
}

/** Maximum length of a name in a header, in characters. A longer one could tell a story of its own in the list of messages. */
const MAX_IN_HEADER = 60;

/** Returns a text with one blank line at most between others. Many blank lines would push the stop link out of sight. */
export function withoutGaps(text: string): string {
  const lines = shown(text)
    .split(/\r\n|[\n\v\f\r\u0085\u2028\u2029]/)
    .map((line) => line.trimEnd());
  return lines.filter((line, n) => line !== "" || lines[n - 1] !== "").join("\n");
}

/** Returns a text as a header may have it: on one line, and with nothing that begins an encoded word (RFC 2047). */
function inHeader(text: string): string {
  return shownName(text).replaceAll("=?", "= ?");
}

function toCandidate(record: CandidateRecord, { documents, changed }: PlannedMessage, words: Words, sender: string) {
  const listed = record.documents.filter(({ id }) => documents.includes(id));
  // In the first message nothing is needed "as well": the candidate has been asked for nothing yet.
  const isFirst = record.documents.every(({ id, chase }) => chase.attempts <= (documents.includes(id) ? 1 : 0));
  const isNew = ({ state, chase }: DocumentRecord) => state !== "requested" || (!isFirst && chase.attempts === 1);
  const news = listed.filter((each) => changed.includes(each.id) && isNew(each)).slice(0, MAX_NEWS);
  const name = onOneLine(nameOf(record));
  return {
    ...words.documents,
    why: words.documents.needed,
    subject: words.documents.subject(shortened(sender, MAX_IN_HEADER), listed.length),
    again: news.length === 0 && listed.some(({ chase }) => chase.attempts > 1),
    news: news.map(({ name, state, rejection_reason: reason }) => {
      const change = words.changes[state === "rejected" || state === "expired" ? state : "requested"](shortened(name));
      return state === "rejected" && reason !== null ? `${change}${words.colon} ${shortened(reason)}` : `${change}.`;
    }),
    name,
    hello: words.hello(name, onOneLine(record.first_name)),
    ask: words.documents.ask(sender, onOneLine(record.job_title), listed.length) + words.colon,
    items: listed.map((document) => {
      const isTold = document.state !== "requested" && news.includes(document);
      const note = isTold ? "" : noteOf(document, words);
      return { name: shortened(document.name), note: note && ` (${shortened(note)})` };
    }),
  };
}

function toReferee(record: CandidateRecord, reference: ReferenceRecord, words: Words, sender: string) {
  const person = onOneLine(nameOf(record));
  const name = onOneLine(reference.name);
  return {
    ...words.reference,
    why: words.reference.named(person),
    subject: words.pages.reference.title(person === null ? null : shortened(person, MAX_IN_HEADER)),
    again: reference.chase.attempts > 1,
    news: [],
    name,
    hello: words.hello(name, null),
    ask: `${words.reference.named(person)} ${words.reference.ask(sender)}`,
    items: [],
  };
}

/** Names with line breaks could pass for text of the message. */
function onOneLine(name: string | null): string | null {
  return shownName(name ?? "") || null;
}

/** Maximum characters of a document's name, and of its note: some mail programs cut off a message after 102 kB. */
const MAX_ITEM = 120;

/** Maximum number of changes that a message says in sentences. Its list has all of them. */
const MAX_NEWS = 20;

/** Returns why a document is asked for again, or that it is not required. Empty if neither. */
export function noteOf(
  { state, required, rejection_reason: reason }: Pick<DocumentRecord, "required" | "state" | "rejection_reason">,
  words: Words,
): string {
  if (state === "rejected") return reason === null ? words.rejected : `${words.rejected}${words.colon} ${reason}`;
  if (state === "expired") return words.expired;
  return required ? "" : words.optional;
}

function textOf({ hello, news, ask, items, instructions, open, pageUrl, stop, stopUrl }: Body): string {
  const list = items.map(({ name, note }) => `- ${name}${note}`);
  const paragraphs = [
    hello,
    wrapped(news.join("\n")),
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
function htmlOf(body: Body, language: string): Html {
  const { hello, news, ask, items, instructions, open, button, pageUrl, stop, stopUrl } = body;
  return html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <meta name="format-detection" content="telephone=no,date=no,address=no,email=no,url=no" />
        <title>${ask}</title>
      </head>
      <body style="margin:0;padding:24px;${FONT}">
        <div style="max-width:560px;margin:0 auto;overflow-wrap:anywhere">
          <p>${hello}</p>
          ${news.map((sentence) => html`<p>${sentence}</p>`)}
          <p>${ask}</p>
          ${
            items.length > 0 &&
            html`<ul>
              ${items.map(({ name, note }) => html`<li><strong>${name}</strong>${note}</li>`)}
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

/** Returns a text on one line, cut off after so many characters. */
export function shortened(text: string, max = MAX_ITEM): string {
  const line = shownName(text);
  const characters = Array.from(line);
  return characters.length <= max ? line : `${characters.slice(0, max - 1).join("")}…`;
}
