import { type Html, html } from "../../schema/html.ts";
import type { Words } from "../languages/en.ts";
import { noteOf, shortened } from "../message.ts";
import { type Page, pageOf } from "./page.ts";
import type { CandidateView } from "./view-store.ts";
import type { Visit } from "./visits.ts";

/** What became of a document that the visitor has sent. */
interface News {
  readonly documentId: string;
  readonly text: string;
  readonly refused: boolean;
}

/**
 * Makes the page on which a candidate sends documents.
 * @param maxMegabytes size of the largest file, as the language writes the number.
 */
export function candidatePage(status: number, visit: Visit, maxMegabytes: string, news?: News): Page {
  const { candidate, words, sender, instructions, path } = visit;
  const { documents: texts } = words.pages;
  const { asked, asked_count, received, received_count } = candidate;
  const [moreAsked, moreReceived] = [asked_count - asked.length, received_count - received.length];
  return pageOf(status, words, {
    title: texts.title(sender),
    stop: `${path}/stop`,
    body: html`
      ${news !== undefined && newsOf(news)}
      <p>${asked_count === 0 ? texts.all : `${words.documents.ask(sender, candidate.job_title)}.`}</p>
      ${asked_count > 0 && instructions !== null && html`<p class="note">${instructions}</p>`}
      ${asked_count > 0 && html`<p>${texts.hint(maxMegabytes)}</p>`}
      <ul>
        ${asked.map((document) => formOf(document, visit, news))}
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

function formOf(document: CandidateView["asked"][number], { path, words }: Visit, news: News | undefined): Html {
  const { id, name } = document;
  const note = noteOf(document, words);
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
