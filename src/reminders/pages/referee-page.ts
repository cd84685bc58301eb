import { escaped, type Html, html, raw } from "../../schema/html.ts";
import type { Words } from "../languages/en.ts";
import { numberIn } from "../languages/formats.ts";
import { type Answer, answerLimit, excessOf, fieldOf, sorted, type Typed } from "./answers.ts";
import { type Page, visitPage } from "./page.ts";
import type { Visit } from "./visits.ts";

export function refereePage(visit: Visit): Page {
  const { path, words, person, sender, instructions } = visit;
  const { reference: texts } = words.pages;
  return pageAbout(
    visit,
    html`<p>${words.reference.named(person)} ${words.reference.ask(sender)}</p>
      ${instructions !== null && html`<p class="note">${instructions}</p>`}
      <p>${texts.can}</p>
      <a class="button" href="${path}/questions">${texts.yes}</a>
      <a class="button quiet" href="${path}/decline">${texts.no}</a>`,
  );
}

/** Asks once more whether the referee declines. */
export function declinePage(visit: Visit): Page {
  const { reference: texts } = visit.words.pages;
  return pageAbout(
    visit,
    html`<p>${texts.sure(visit.sender)}</p>
      <form method="post" action="${visit.path}/decline"><button>${texts.decline}</button></form>
      <a class="button quiet" href="${visit.path}">${texts.back}</a>`,
  );
}

/** Makes the page of a referee who has declined and may change their mind. @param typed what nobody will read. */
export function declinedPage(visit: Visit, typed: Html | undefined): Page {
  const { reference: texts } = visit.words.pages;
  return pageAbout(
    visit,
    html`<p>${texts.declined}</p>
      <form method="post" action="${visit.path}/take-back"><button class="quiet">${texts.takeBack}</button></form>
      ${typed}`,
  );
}

function pageAbout(visit: Visit, body: Html): Page {
  return visitPage(200, visit, { title: visit.words.pages.reference.title(visit.person), body });
}

/** Makes the second page: the questions, with what was typed already and why it was refused. */
export function questionsPage(status: number, visit: Visit, typed: Typed = [], refused?: string): Page {
  const { path, words, person, sender, questions } = visit;
  const { reference: texts } = words.pages;
  const limit = answerLimit(questions);
  const { answers, others } = sorted(typed, questions);
  return visitPage(status, visit, {
    title: texts.title(person),
    news: refused,
    body: html`
      <p>${texts.questionsIntro(sender)}</p>
      <form method="post" action="${path}/questions" enctype="multipart/form-data">
        ${answers.map((answer, n) => questionOf(answer, n, limit, words))}
        <button>${words.pages.documents.send}</button>
      </form>
      ${typedHtml(words, others)}
    `,
  });
}

function questionOf({ question, answer }: Answer, n: number, limit: number, words: Words): Html {
  const { reference: texts } = words.pages;
  const excess = excessOf(answer, limit);
  const described = excess > 0 ? `limit-${n} excess-${n}` : `limit-${n}`;
  return html`<label for="answer-${n}">${question}</label>
    <p class="hint" id="limit-${n}">${texts.limit(numberIn(words, limit))}</p>
    ${excess > 0 && html`<p class="bad" id="excess-${n}">${texts.excess}${words.colon} ${numberIn(words, excess)}</p>`}
    ${areaOf(answer, html`id="answer-${n}" name="${fieldOf(question)}" aria-describedby="${described}" ${excess > 0 && raw('aria-invalid="true"')}`)}`;
}

/** Shows a referee the answers that were not stored. @param action the path to send them to again, if that can work. */
export function typedHtml(words: Words, typed: Typed, action?: string): Html | undefined {
  const { reference: texts } = words.pages;
  if (typed.length === 0) return undefined;
  const areas = typed.map(
    ({ name, text }, n) =>
      html`<label for="typed-${n}">${texts.answer(n + 1)}</label>
        ${areaOf(text, action === undefined ? raw(`id="typed-${n}" readonly`) : html`id="typed-${n}" name="${name}"`)}`,
  );
  const unsent = html`<p>${texts.unsent}</p>
    ${areas}`;
  if (action === undefined) return unsent;
  return html`<form method="post" action="${action}" enctype="multipart/form-data">
    ${unsent}<button>${words.pages.documents.send}</button>
  </form>`;
}

/** The text stays as it was written, so that nothing of it is lost. */
function areaOf(text: string, attributes: Html): Html {
  return html`<textarea rows="4" ${attributes}>${raw(escaped(text))}</textarea>`;
}
