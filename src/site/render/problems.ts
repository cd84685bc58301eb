import { type ProblemCode, PROBLEMS, QUOTA_EXCEEDED } from "../../problems.ts";
import { ADVICE, RETRY } from "./advice.ts";
import { CONTRACT, type Listed, OPERATIONS } from "./contract.ts";
import type { Heading } from "./document.ts";
import { type Html, html, raw } from "../../schema/html.ts";
import { inline, jsonExample } from "./markdown.ts";
import { operationPath } from "./names.ts";
import { heading, table } from "./parts.ts";

const CODES = Object.keys(PROBLEMS) as ProblemCode[];

export const PROBLEM_HEADINGS: readonly Heading[] = CODES.map((code) => ({ id: code, text: code, level: 3 }));

/** Returns every problem, each under its code as the id of its heading. */
export function problemList(): Html {
  return html`${CODES.map(problemSection)}`;
}

/** Returns a table of all problems that leads to the list on /docs. */
export function problemTable(): Html {
  const row = (code: ProblemCode) => {
    const { status, title } = PROBLEMS[code];
    return [String(status), html`<a href="/docs#${code}"><code>${code}</code></a>`, title, RETRY[ADVICE[code].retry]];
  };
  return table("Problems", ["Status", "Code", "Title", "Again?"], CODES.map(row));
}

function problemSection(code: ProblemCode): Html {
  const { status, title } = PROBLEMS[code];
  const { when, remedy, retry } = ADVICE[code];
  return html`<section class="problem">
    ${heading(3, code, html`<code>${code}</code> <span class="status">${status} ${title}</span>`, code)}
    <p>${inline(when)}</p>
    <p><strong>What to do.</strong> ${inline(remedy)} ${RETRY[retry]}</p>
    <p class="where">${whereText(code)}</p>
    ${exampleOf(code)}
  </section>`;
}

function whereText(code: ProblemCode): Html {
  const answering = OPERATIONS.filter(({ codes }) => codes.includes(code));
  const others = OPERATIONS.filter(({ codes }) => !codes.includes(code));
  if (answering.length === 0) return html`It belongs to no operation.`;
  if (others.length === 0) return html`Every operation can answer it.`;
  if (answering.length <= others.length) return html`Answered by ${links(answering)}.`;
  return html`Every operation can answer it, except ${links(others)}.`;
}

function links(operations: readonly Listed[]): Html {
  return raw(
    operations
      .map((operation) => html`<a href="${operationPath(operation)}">${operation.method} ${operation.path}</a>`.text)
      .join(", "),
  );
}

function exampleOf(code: ProblemCode): Html {
  const { status, title } = PROBLEMS[code];
  const fallback = { type: code === "rate_limited" ? QUOTA_EXCEEDED : `/docs#${code}`, title, status, code };
  return jsonExample("Example of the body", CONTRACT.components.examples?.[code]?.value ?? fallback);
}
