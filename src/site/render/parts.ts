import { type Html, html, raw } from "../../schema/html.ts";

type Content = Html | string;

/** Returns a table. One that is too wide for the screen scrolls by itself. */
export function table(label: string, columns: readonly Content[], rows: readonly (readonly Content[])[]): Html {
  return html`<div class="table" role="region" aria-label="${label}" tabindex="0">
    <table>
      <thead>
        <tr>
          ${columns.map((column) => html`<th scope="col">${column}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (cells) =>
            html`<tr>
              ${cells.map((cell) => html`<td>${cell}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

/** A term and what is said of it. */
export interface Field {
  readonly id?: string | undefined;
  readonly term: Html;
  readonly text: Html;
}

export function fieldList(fields: readonly Field[]): Html {
  return html`<dl class="fields">
    ${fields.map(
      ({ id, term, text }) =>
        html`<div>
          <dt ${id !== undefined && html`id="${id}"`}>${term}</dt>
          <dd>${text}</dd>
        </div>`,
    )}
  </dl>`;
}

/** Returns a heading that links to itself. */
export function heading(level: number, id: string, content: Content, name = "this section"): Html {
  const anchor = html`<a class="anchor" href="#${id}" aria-label="Link to ${name}">#</a>`;
  return html`<h${level} id="${id}">${content} ${anchor}</h${level}>`;
}

export function joined(parts: readonly Html[], separator = ", "): Html {
  return raw(parts.map(({ text }) => text).join(separator));
}

/** Returns a red box: what a reader must know before the next step. */
export function caution(body: Html): Html {
  return html`<div class="caution" role="note">${body}</div>`;
}
