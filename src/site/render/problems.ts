import { PROBLEM_EXAMPLES } from "../../api/openapi-problems.ts";
import { type ProblemCode, PROBLEMS } from "../../problems.ts";
import { NEVER_RETRIED, REMEDIES, RETRIED_LATER, WHEN } from "./advice.ts";
import { type Operation, OPERATIONS } from "./contract.ts";
import { type Heading, operationPath } from "./document.ts";
import { type Html, html } from "../../schema/html.ts";
import { inline, jsonExample } from "./markdown.ts";
import { heading, joined, table } from "./parts.ts";

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
    return [String(status), html`<a href="/docs#${code}"><code>${code}</code></a>`, title, againText(code)];
  };
  return table("Problems", ["Status", "Code", "Title", "Again?"], CODES.map(row));
}

function problemSection(code: ProblemCode): Html {
  const { status, title } = PROBLEMS[code];
  return html`<section class="problem">
    ${heading(3, code, html`<code>${code}</code> <span class="status">${status} ${title}</span>`, code)}
    <p>${inline(WHEN[code])}</p>
    <p><strong>What to do.</strong> ${inline(REMEDIES[code])} ${againText(code)}</p>
    <p class="where">${whereText(code)}</p>
    ${jsonExample("Example of the body", PROBLEM_EXAMPLES[code]?.value)}
  </section>`;
}

function againText(code: ProblemCode): string {
  if (NEVER_RETRIED.includes(code)) return "Do not send it again.";
  return RETRIED_LATER.includes(code) ? "The same request can succeed later." : "Change the request first.";
}

function whereText(code: ProblemCode): Html {
  const returning = OPERATIONS.filter(({ codes }) => codes.includes(code));
  const others = OPERATIONS.filter(({ codes }) => !codes.includes(code));
  if (returning.length === 0) return html`It belongs to no operation.`;
  if (others.length === 0) return html`Every operation can return it.`;
  if (returning.length <= others.length) return html`Returned by ${links(returning)}.`;
  return html`Every operation can return it, except ${links(others)}.`;
}

function links(operations: readonly Operation[]): Html {
  return joined(operations.map((each) => html`<a href="${operationPath(each)}">${each.method} ${each.path}</a>`));
}
