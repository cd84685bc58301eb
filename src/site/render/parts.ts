import { type Html, html } from "../../schema/html.ts";

/** Returns a table. One that is too wide for the screen scrolls by itself. */
export function table(
  label: string,
  columns: readonly (Html | string)[],
  rows: readonly (readonly (Html | string)[])[],
): Html {
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

/** Returns a heading that links to itself. */
export function heading(level: number, id: string, content: Html | string, name = "this section"): Html {
  const anchor = html`<a class="anchor" href="#${id}" aria-label="Link to ${name}">#</a>`;
  return html`<h${level} id="${id}">${content} ${anchor}</h${level}>`;
}
