import { DOCUMENT_MOVES, REFERENCE_MOVES } from "../../candidates/moves.ts";
import { STATE_RULES } from "../../candidates/states.ts";
import { type Html, html } from "../../schema/html.ts";
import { slugOf } from "./document.ts";
import { table } from "./parts.ts";

/** A row of a diagram: what leads to a state, and the state. */
interface Row {
  readonly from: readonly string[];
  readonly when?: string;
  readonly to: string;
}

/** Sizes in the units of the drawing, which is as wide as a narrow phone. */
const WIDTH = 340;
const LEFT = 168;
const RIGHT = 128;
const LINE = 17;
const PADDING = 8;
const GAP = 14;
/** Matches as many words as fit into a line of a box on the left: 24 characters. */
const LINE_OF_WORDS = /\S.{0,23}(?!\S)|\S+/g;

/** Returns the diagrams of the states, each with the same facts as a table. They are made from the code's own tables. */
export function statesDiagram(): Html {
  const candidate = [
    ...STATE_RULES.map(({ state, when }) => ({ from: [`if ${when}`], to: state })),
    { from: ["otherwise"], to: "in_progress" },
  ];
  return html`${figure("How the state of a candidate is found: the first line that fits decides.", candidate, "Condition")}
  ${figure("What the service does to a document by itself.", Object.values(DOCUMENT_MOVES), "From")}
  ${figure("What the service does to a reference by itself.", Object.values(REFERENCE_MOVES), "From")}`;
}

function figure(caption: string, rows: readonly Row[], first: string): Html {
  const columns = rows.some(({ when }) => when !== undefined) ? [first, "When", "State"] : [first, "State"];
  const cells = rows.map(({ from, when, to }) => [from.join(", "), ...(when ? [when] : []), html`<code>${to}</code>`]);
  return html`<figure class="diagram">
    ${drawing(rows, slugOf(caption))}
    <figcaption>${caption}</figcaption>
    <details>
      <summary>The same as a table</summary>
      ${table(caption, columns, cells)}
    </details>
  </figure>`;
}

/** Draws the rows below each other. The table says the same, so the drawing is hidden from screen readers. */
function drawing(rows: readonly Row[], name: string): Html {
  let top = 1;
  const drawn = rows.map(({ from, when, to }) => {
    const lines = [...from, when === undefined ? "" : `when ${when}`].flatMap(
      (text) => text.match(LINE_OF_WORDS) ?? [],
    );
    const height = lines.length * LINE + 2 * PADDING;
    const middle = top + height / 2;
    const box = html`<rect class="from" x="1" y="${top}" width="${LEFT}" height="${height}" rx="6" />
      ${lines.map((line, index) => html`<text class="${index < from.length && when !== undefined ? "state" : "label"}" x="${1 + PADDING}" y="${top + PADDING + LINE * index + 12}">${line}</text>`)}
      <path class="arrow" d="M${LEFT + 3} ${middle}H${WIDTH - RIGHT - 5}" marker-end="url(#arrow-${name})" />
      <rect class="to" x="${WIDTH - RIGHT - 1}" y="${middle - 16}" width="${RIGHT}" height="32" rx="16" />
      <text class="state" text-anchor="middle" x="${WIDTH - RIGHT / 2 - 1}" y="${middle + 4}">${to}</text>`;
    top += height + GAP;
    return box;
  });
  return html`<svg viewBox="0 0 ${WIDTH} ${top - GAP + 1}" aria-hidden="true">
    <defs>
      <marker id="arrow-${name}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">
        <path d="M0 0L8 4L0 8z" />
      </marker>
    </defs>
    ${drawn}
  </svg>`;
}
