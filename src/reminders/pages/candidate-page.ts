import { grouped } from "../../infra/grouped.ts";
import { type Html, html, raw } from "../../schema/html.ts";
import { dateIn, sizeIn } from "../languages/formats.ts";
import { noteOf, shortened } from "../message.ts";
import { type Page, visitPage } from "./page.ts";
import type { Refusal } from "./receive.ts";
import type { CandidateView } from "./view-store.ts";
import type { Visit } from "./visits.ts";

type Document = CandidateView["documents"][number];

/** What the visitor has just sent: it has arrived, or was refused. */
interface Sent {
  /** The document's id. */
  readonly id: string;
  readonly refused?: Refusal;
}

/** Maximum number of documents that a page asks for. Nobody is charged for a page, so its cost is bounded. */
const MAX_ASKED = 25;

/** What helps a phone to offer the right files. Others can be chosen all the same. */
const ACCEPT =
  "image/*,.heic,.heif,application/pdf,.doc,.docx,.odt,.rtf,.txt,.xls,.xlsx,.ods,.ppt,.pptx,.odp,.pages,.zip";

/** Makes the page on which a candidate sends documents. @param maxBytes size of the largest file. */
export function candidatePage(visit: Visit, maxBytes: number, sent: Sent): Page {
  const { candidate, words, sender, instructions, path } = visit;
  const { documents: texts } = words.pages;
  const limit = texts.limit(sizeIn(words, maxBytes));
  const alike = grouped(candidate.documents, ({ name }) => shortened(name));
  const received = candidate.documents.filter(({ state }) => state === "received");
  const asked = candidate.documents.filter(({ state }) => state !== "received");
  const shown = asked.toSorted((one, other) => Number(other.required) - Number(one.required)).slice(0, MAX_ASKED);

  const item = (document: Document) => {
    const { id, name, state } = document;
    const isRefused = sent.refused !== undefined && sent.id === id;
    const note = noteOf(document, words);
    const file = fileOf(document, visit);
    const form = html`<form method="post" action="${path}/documents/${id}" enctype="multipart/form-data">
      <input
        type="file"
        id="${id}"
        name="content"
        required
        accept="${ACCEPT}"
        aria-labelledby="name-${id}"
        aria-describedby="limit-${id}"
        ${isRefused && raw('aria-invalid="true"')}
      />
      <p class="hint" id="limit-${id}">${limit}</p>
      <button id="send-${id}" aria-labelledby="send-${id} name-${id}">${texts.send}</button>
    </form>`;
    const replace = html`<p>${texts.received}${file !== "" && `${words.colon} ${file}`}</p>
      <details ${isRefused && raw("open")}>
        <summary>${texts.replace}</summary>
        ${form}
      </details>`;
    return html`<li>
      <h2 id="name-${id}">${name}${whichOf(document, alike.get(shortened(name)) ?? [], visit)}</h2>
      ${state === "received" ? replace : html`${note !== "" && html`<p class="why">${note}</p>`}${form}`}
    </li>`;
  };
  return visitPage(sent.refused?.status ?? 200, visit, {
    title: texts.title(sender),
    news: newsOf(sent, visit),
    body: html`
      <p>${asked.length === 0 ? texts.all : `${words.documents.ask(sender, candidate.job_title, asked.length)}.`}</p>
      ${asked.length > 0 && instructions !== null && html`<p class="note">${instructions}</p>`}
      ${asked.length > 0 && html`<p>${texts.hint}</p>`}
      <ul>
        ${[...shown, ...received].map(item)}
      </ul>
      ${asked.length > MAX_ASKED && html`<p>${texts.more(asked.length - MAX_ASKED)}</p>`}
    `,
  });
}

/** Returns what tells a document from others of its name: its number, and when it was asked for. */
function whichOf(document: Document, alike: readonly Document[], { candidate, words }: Visit): Html | undefined {
  if (alike.length === 1) return undefined;
  const { created_at } = document;
  const started = candidate.started_at ?? "";
  const date = dateIn(words, created_at > started ? created_at : started);
  const which = words.pages.documents.which(alike.indexOf(document) + 1, alike.length, date);
  return html` <small>${which}</small>`;
}

/** Returns the name and size of a document's file: "passport.jpg, 2.1 MB". Empty if a client says that it has arrived. */
function fileOf({ content }: Document, { words }: Visit): string {
  if (content === null) return "";
  const size = sizeIn(words, content.size);
  return content.filename === null ? size : `${shortened(content.filename)}, ${size}`;
}

/** Returns what became of the file that the visitor has just sent. A refusal leads to its document. */
function newsOf({ id, refused }: Sent, visit: Visit): string | Html | undefined {
  const { candidate, words } = visit;
  const document = candidate.documents.find((each) => each.id === id);
  if (document === undefined) return refused?.text;
  const name = shortened(document.name);
  if (refused !== undefined) return html`<a href="#${id}">${name}${words.colon} ${refused.text}</a>`;
  return document.state === "received" ? words.pages.documents.arrived(name, fileOf(document, visit)) : undefined;
}
