import { type Html, html } from "../../infra/html.ts";
import type { NamedDocument, Words } from "../languages/words.ts";
import { noteOf, shortened } from "../message.ts";
import type { Glance } from "./glance-store.ts";
import { type Page, pageOf } from "./page.ts";

export interface News {
  /** The document that it is about. */
  readonly documentId: string;
  readonly text: string;
  readonly refused: boolean;
}

interface Facts {
  /** The page's own path. */
  readonly path: string;
  readonly record: Glance;
  readonly words: Words;
  readonly sender: string;
  readonly instructions: string | null;
  /** The largest file, as the language writes the number. */
  readonly maxMegabytes: string;
}

/** The page on which a candidate sends documents. `status` is that of the answer. */
export function candidatePage(status: number, facts: Facts, news?: News): Page {
  const { record, words, sender, instructions, maxMegabytes, path } = facts;
  const { documents: texts } = words.pages;
  const { asked, asked_count, received, received_count } = record;
  const [moreAsked, moreReceived] = [asked_count - asked.length, received_count - received.length];
  return pageOf(status, words, {
    title: texts.title(sender),
    stop: `${path}/stop`,
    body: html`
      ${news !== undefined && newsOf(news)}
      <p>${asked_count === 0 ? texts.all : `${words.documents.ask(sender, record.job_title)}.`}</p>
      ${asked_count > 0 && instructions !== null && html`<p class="note">${instructions}</p>`}
      ${asked_count > 0 && html`<p>${texts.hint(maxMegabytes)}</p>`}
      <ul>
        ${asked.map((document) => formOf(document, facts, news))}
        ${received.map(({ name }) => receivedItem(shortened(name), words))}
        ${moreReceived > 0 && receivedItem(texts.others(moreReceived), words)}
      </ul>
      ${moreAsked > 0 && html`<p>${texts.more(moreAsked)}</p>`}
    `,
  });
}

function receivedItem(name: string, { pages }: Words): Html {
  return html`<li>
    <h2>${name}</h2>
    <p>${pages.documents.received}</p>
  </li>`;
}

function newsOf({ text, refused }: News): Html {
  return html`<p class="${refused ? "bad" : "good"}" role="${refused ? "alert" : "status"}">${text}</p>`;
}

function formOf(document: Glance["asked"][number], { path, words }: Facts, news: News | undefined): Html {
  const { id, name } = document;
  const note = noteOf(document as NamedDocument, words);
  const texts = words.pages.documents;
  const refused = news?.documentId === id && news.refused;
  return html`<li>
    <form method="post" action="${path}/documents/${id}" enctype="multipart/form-data">
      <h2>${name}</h2>
      ${note !== undefined && html`<p class="why">${note}</p>`}
      <label for="${id}">${texts.file(shortened(name))}</label>
      <input type="file" id="${id}" name="content" required ${refused && html`aria-invalid="true"`} />
      <button>${texts.send}</button>
    </form>
  </li>`;
}
