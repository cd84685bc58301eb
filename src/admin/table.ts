import { styleText } from "node:util";
import type { AccountLimits } from "../limits/account-limits.ts";

type Row = [label: string, used: number, limit: number];

type Block = { title: string; rows: readonly Row[] };

/** Widths in characters. A block is a label, a bar, the counts and the gap to the next block. */
const BAR = 16;
const LABEL = 10;
const BLOCK = 48;
/** Shares of the limit from which a bar is yellow, and red. */
const HIGH = 0.7;
const FULL = 0.9;

/**
 * Returns an account's limits as lines of text: a block for the account and one for each key, side by side if they fit.
 * @param width of the terminal, in characters.
 */
export function limitsTable(limits: AccountLimits, width: number, colours: boolean): string[] {
  const blocks = blocksOf(limits);
  const abreast = Math.max(1, Math.floor(width / BLOCK));
  const lines = [headline(limits, colours), ""];
  for (let first = 0; first < blocks.length; first += abreast)
    lines.push(...sideBySide(blocks.slice(first, first + abreast), colours), "");
  return lines;
}

function headline({ account_id, name, status, window_seconds, surfaces }: AccountLimits, colours: boolean): string {
  const end = surfaces[0];
  const window =
    end === undefined
      ? ""
      : `window of ${spoken(window_seconds)} ends ${end.reset_at.slice(11, 19)} UTC, in ${clockTime(end.reset)}`;
  return [plain(name), account_id, paint(status, status === "active" ? "green" : "red", colours), window].join("  ");
}

function blocksOf({ surfaces, keys }: AccountLimits): Block[] {
  const account = surfaces.map(({ surface, account: { used, limit } }): Row => [surface, used, limit]);
  const ofKeys = keys.map(({ id, name, surfaces: own, grants }) => {
    const rows = own.map(({ surface, key: { used, limit } }): Row => [surface, used, limit]);
    const granted = grants.map(({ amount, remaining }): Row => ["grant", amount - remaining, amount]);
    return { title: `${plain(name).slice(0, 14)} ${id}`, rows: [...rows, ...granted] };
  });
  return [{ title: "account", rows: account }, ...ofKeys];
}

function sideBySide(blocks: readonly Block[], colours: boolean): string[] {
  const height = Math.max(...blocks.map(({ rows }) => rows.length));
  const titles = blocks.map(({ title }) => paint(title.slice(0, BLOCK - 2).padEnd(BLOCK), "bold", colours)).join("");
  const lines = Array.from({ length: height }, (_, line) =>
    blocks.map(({ rows }) => (rows[line] === undefined ? " ".repeat(BLOCK) : rowText(rows[line], colours))).join(""),
  );
  return [titles, ...lines].map((line) => line.trimEnd());
}

function rowText([label, used, limit]: Row, colours: boolean): string {
  const share = limit === 0 ? 0 : Math.min(used / limit, 1);
  // Any use shows at least one step, and only an exhausted limit shows a full bar.
  const filled = used === 0 ? 0 : Math.min(Math.max(Math.round(share * BAR), 1), used < limit ? BAR - 1 : BAR);
  const colour = share >= FULL ? "red" : share >= HIGH ? "yellow" : "green";
  const bar = paint("█".repeat(filled), colour, colours) + paint("░".repeat(BAR - filled), "dim", colours);
  return `  ${label.padEnd(LABEL)}${bar}${`${used} / ${limit}`.padStart(BLOCK - LABEL - BAR - 4)}  `;
}

function paint(text: string, style: "bold" | "dim" | "green" | "yellow" | "red", colours: boolean): string {
  return colours && text !== "" ? styleText(style, text) : text;
}

/** Returns a name without control characters, which could move the cursor. */
export function plain(name: string): string {
  return name.replaceAll(/\p{C}/gu, "");
}

function clockTime(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

function spoken(seconds: number): string {
  return seconds % 3600 === 0 ? `${seconds / 3600} h` : `${seconds} s`;
}
