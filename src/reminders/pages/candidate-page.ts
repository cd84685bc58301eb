import { type Html, html, raw } from "../../schema/html.ts";
import type { Words } from "../languages/en.ts";
import { dateIn, sizeIn } from "../languages/formats.ts";
import { noteOf, shortened } from "../message.ts";
import { type Page, visitPage } from "./page.ts";
import type { Sent } from "./view-store.ts";
import type { Visit } from "./visits.ts";

/** Why the file of a document was refused. */
interface Refusal {
  readonly documentId: string;
  readonly text: string;
}

/** What a document's part of the page shows. */
interface Item {
  readonly id: string;
  readonly name: string;
  /** Tells it from others of its name. Empty if there are none. */
  readonly which: string;
  readonly refused: boolean;
}

/** What helps a phone to offer the right files. Others can be chosen all the same. */
const ACCEPT =
  "image/*,.heic,.heif,application/pdf,.doc,.docx,.odt,.rtf,.txt,.xls,.xlsx,.ods,.ppt,.pptx,.odp,.pages,.zip";

/**
 * Makes the page on which a candidate sends documents.
 * @param maxSize size of the largest file, as sizeIn writes it.
 */
export function candidatePage(status: number, visit: Visit, maxSize: string, refusal?: Refusal): Page {
  const { candidate, words, sender, instructions, path } = visit;
  const { documents: texts } = words.pages;
  const { asked, asked_count, received, received_count } = candidate;
  const [moreAsked, moreReceived] = [asked_count - asked.length, received_count - received.length];
  const itemOf = ({ id, name }: { id: string; name: string }): Item => {
    const which = whichOf(id, visit);
    return { id, name, which, refused: refusal?.documentId === id };
  };
  const form = (item: Item) => formOf(item, { path, words, maxSize });
  return visitPage(status, visit, {
    title: texts.title(sender),
    news: refusal === undefined ? arrivalOf(visit) : { text: alertOf(refusal, visit), refused: true },
    body: html`
      <p>${asked_count === 0 ? texts.all : `${words.documents.ask(sender, candidate.job_title, asked_count)}.`}</p>
      ${asked_count > 0 && instructions !== null && html`<p class="note">${instructions}</p>`}
      ${asked_count > 0 && html`<p>${texts.hint}</p>`}
      <ul>
        ${asked.map((document) => {
          const item = itemOf(document);
          const note = noteOf(document, words);
          return itemHtml(item, html`${note !== undefined && html`<p class="why">${note}</p>`}${form(item)}`);
        })}
        ${received.map((document) => {
          const item = itemOf(document);
          const file = fileOf(document, words);
          return itemHtml(
            item,
            html`<p>${texts.received}${file !== "" && `${words.colon} ${file}`}</p>
              <details ${item.refused && raw("open")}>
                <summary>${texts.replace}</summary>
                ${form(item)}
              </details>`,
          );
        })}
        ${moreReceived > 0 && html`<li>${texts.others(moreReceived)}</li>`}
      </ul>
      ${moreAsked > 0 && html`<p>${texts.more(moreAsked)}</p>`}
    `,
  });
}

function itemHtml({ id, name, which }: Item, rest: Html): Html {
  return html`<li>
    <h2 id="name-${id}">${name}</h2>
    ${which !== "" && html`<p class="hint" id="which-${id}">${which}</p>`} ${rest}
  </li>`;
}

function formOf(
  { id, which, refused }: Item,
  { path, words, maxSize }: Pick<Visit, "path" | "words"> & { maxSize: string },
): Html {
  const { limit, send } = words.pages.documents;
  const names = which === "" ? `name-${id}` : `name-${id} which-${id}`;
  return html`<form method="post" action="${path}/documents/${id}" enctype="multipart/form-data">
    <input
      type="file"
      id="${id}"
      name="content"
      required
      accept="${ACCEPT}"
      aria-labelledby="${names}"
      aria-describedby="limit-${id}"
      ${refused && raw('aria-invalid="true"')}
    />
    <p class="hint" id="limit-${id}">${limit(maxSize)}</p>
    <button id="send-${id}" aria-labelledby="send-${id} ${names}">${send}</button>
  </form>`;
}

/** Returns what tells a document from others of its name: its number, and when it was asked for. */
function whichOf(id: string, { candidate, words }: Visit): string {
  const all = [...candidate.asked, ...candidate.received].toSorted((one, other) => (one.id < other.id ? -1 : 1));
  const document = all.find((each) => each.id === id);
  if (document === undefined) return "";
  const alike = all.filter(({ name }) => shortened(name) === shortened(document.name));
  if (alike.length === 1) return "";
  const started = candidate.started_at ?? "";
  const date = dateIn(words, document.created_at > started ? document.created_at : started);
  return words.pages.documents.which(alike.indexOf(document) + 1, alike.length, date);
}

/** Returns the name and size of a file: "passport.jpg, 2.1 MB". Empty if there is no file. */
function fileOf({ content }: Sent, words: Words): string {
  if (content === null) return "";
  const { filename, size } = content;
  return [filename === null ? [] : shortened(filename), sizeIn(words, size)].flat().join(", ");
}

/** Returns what is said of the file that the visitor has just sent, if there is one. */
function arrivalOf({ candidate, words }: Visit) {
  const sent = candidate.arrived.find(({ state }) => state === "received");
  return sent && { text: words.pages.documents.arrived(shortened(sent.name), fileOf(sent, words)), refused: false };
}

/** Returns what is wrong with a file, below its document's name. */
function alertOf({ documentId, text }: Refusal, { candidate }: Visit): Html {
  const document = [...candidate.asked, ...candidate.received].find(({ id }) => id === documentId);
  return html`${document && html`<a href="#${documentId}">${shortened(document.name)}</a>`}
    <p>${text}</p>`;
}
