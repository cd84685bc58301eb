import { createHash } from "node:crypto";
import { escaped, type Html, html, raw } from "../../schema/html.ts";
import { type Page, pageOf } from "./page.ts";
import type { Visit } from "./visits.ts";

/** Maximum length of the answer to one question, in characters. */
export const MAX_ANSWER = 4_000;

export function refereePage({ path, words, person, sender, instructions }: Visit): Page {
  const { reference: texts } = words.pages;
  return pageOf(200, words, {
    title: texts.title(person),
    stop: `${path}/stop`,
    body: html`
      <p>${texts.intro(person, sender)}</p>
      ${instructions !== null && html`<p class="note">${instructions}</p>`}
      <p>${texts.can}</p>
      <a class="button" href="${path}/questions">${texts.yes}</a>
      <form method="post" action="${path}/decline"><button class="quiet">${texts.no}</button></form>
    `,
  });
}

/** Makes the second page: the questions, with the answers that were given already and why they were refused. */
export function questionsPage(
  status: number,
  { path, words, person, sender, questions }: Visit,
  { answers = [], refused }: { answers?: readonly string[]; refused?: string } = {},
): Page {
  const { reference: texts } = words.pages;
  return pageOf(status, words, {
    title: texts.title(person),
    stop: `${path}/stop`,
    body: html`
      ${refused !== undefined && html`<p class="bad" role="alert">${refused}</p>`}
      <p>${texts.questionsIntro(sender)}</p>
      <form method="post" action="${path}/questions" enctype="multipart/form-data">
        ${questions.map((question, n) => questionOf(question, n, answers[n] ?? ""))}
        <button>${texts.send}</button>
      </form>
    `,
  });
}

/**
 * Returns the name of the field with the answer to a question. It follows from the question, so that no answer goes to
 * another one if the account changes its questions while the referee writes.
 */
export function fieldOf(question: string): string {
  return `answer-${createHash("sha256").update(question).digest("base64url").slice(0, 16)}`;
}

function questionOf(question: string, n: number, answer: string): Html {
  const kept = raw(escaped(answer)); // as it was written, so that nothing of it is lost
  return html`<label for="answer-${n}">${question}</label>
    <textarea id="answer-${n}" name="${fieldOf(question)}" rows="4" maxlength="${MAX_ANSWER}">${kept}</textarea>`;
}
