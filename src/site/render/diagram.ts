import { DOCUMENT_MOVES, REFERENCE_MOVES } from "../../candidates/moves.ts";
import { STATE_RULES } from "../../candidates/states.ts";
import { type Html, html } from "../../schema/html.ts";
import { slugOf } from "./names.ts";
import { table } from "./parts.ts";

/** A row of a diagram: what leads to a state, in one box or several, and the state. */
interface Row {
  readonly from: readonly string[];
  readonly label: string;
  readonly to: string;
}

/** Sizes in the units of the drawing, which is as wide as a narrow phone. */
const WIDTH = 340;
const LEFT = 168;
const RIGHT = 128;
const LINE = 17;
const PADDING = 8;
const GAP = 14;
/** Characters that fit into a line of a box on the left. */
const COLUMNS = 24;

/** Returns the diagrams of the states, each with the same facts as a table. They are made from the code's own tables. */
export function statesDiagram(): Html {
  const candidate = [
    ...STATE_RULES.map(({ state, when }) => ({ from: [`if ${when}`], label: "", to: state })),
    { from: ["otherwise"], label: "", to: "in_progress" },
  ];
  return html`${figure("How the state of a candidate is found: the first line that fits decides.", candidate, "Condition")}
  ${figure("What the service does to a document by itself.", Object.values(DOCUMENT_MOVES).map(moveRow), "From")}
  ${figure("What the service does to a reference by itself.", Object.values(REFERENCE_MOVES).map(moveRow), "From")}`;
}

function moveRow({ from, to, when }: { from: readonly string[]; to: string; when: string }): Row {
  return { from, label: when, to };
}

function figure(caption: string, rows: readonly Row[], first: string): Html {
  const labelled = rows.some(({ label }) => label !== "");
  const cells = rows.map(({ from, label, to }) => [
    from.join(", "),
    ...(labelled ? [label] : []),
    html`<code>${to}</code>`,
  ]);
  return html`<figure class="diagram">
    ${drawing(rows, slugOf(caption))}
    <figcaption>${caption}</figcaption>
    <details>
      <summary>The same as a table</summary>
      ${table(caption, [first, ...(labelled ? ["When"] : []), "State"], cells)}
    </details>
  </figure>`;
}

/** Draws the rows below each other. The table says the same, so the drawing is hidden from screen readers. */
function drawing(rows: readonly Row[], name: string): Html {
  let top = 1;
  const drawn = rows.map((row) => {
    const lines = [
      ...row.from.flatMap((text) => wrapped(text)),
      ...wrapped(row.label === "" ? "" : `when ${row.label}`),
    ];
    const height = lines.length * LINE + 2 * PADDING;
    const middle = top + height / 2;
    const box = html`<rect class="from" x="1" y="${top}" width="${LEFT}" height="${height}" rx="6" />
      ${lines.map((line, index) => html`<text class="${index < row.from.length && row.label !== "" ? "state" : "label"}" x="${1 + PADDING}" y="${top + PADDING + LINE * index + 12}">${line}</text>`)}
      <path class="arrow" d="M${LEFT + 3} ${middle}H${WIDTH - RIGHT - 5}" marker-end="url(#arrow-${name})" />
      <rect class="to" x="${WIDTH - RIGHT - 1}" y="${middle - 16}" width="${RIGHT}" height="32" rx="16" />
      <text class="state" text-anchor="middle" x="${WIDTH - RIGHT / 2 - 1}" y="${middle + 4}">${row.to}</text>`;
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

/** Breaks a text into lines. An empty text has none. */
function wrapped(text: string): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ").filter((part) => part !== "")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= COLUMNS) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
