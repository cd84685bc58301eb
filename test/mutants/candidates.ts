import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { SetupError } from "../../src/dev/output.ts";
import { installPackages, withTools } from "../support/tools.ts";
import { inLogsAndErrors } from "./ignored.ts";

const INSTRUMENTER = "@stryker-mutator/instrumenter@9.6.1";

/** What is used of StrykerJS's instrumenter. */
interface StrykerJs {
  readonly Instrumenter: new (log: object) => { instrument(files: readonly object[], options: object): Promise<Found> };
}

interface Found {
  readonly mutants: readonly Mutant[];
  readonly files: readonly { readonly name: string; readonly content: string }[];
}

interface Mutant {
  readonly id: string;
  readonly fileName: string;
  readonly location: { readonly start: Position; readonly end: Position };
  readonly replacement: string;
  readonly mutatorName: string;
  readonly status?: string;
}

/** Line and column, both counted from 0. */
interface Position {
  readonly line: number;
  readonly column: number;
}

/** A change of one place of src/, as StrykerJS makes them: a comparison turned round, a condition always true, a body emptied. */
export interface Candidate {
  /** StrykerJS's id. The instrumented code records the ids it reaches. */
  readonly id: string;
  readonly file: string;
  /** Offsets of the text that is replaced. */
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

export interface Candidates {
  readonly all: readonly Candidate[];
  /** Each file's path, and its text without a change. The candidates' offsets are in these texts. */
  readonly texts: ReadonlyMap<string, string>;
  /** Each file's path, and its text with all its candidates in it, which record when they are reached. */
  readonly instrumented: ReadonlyMap<string, string>;
}

/**
 * Not changed: what runs on a developer's machine only; what machines wrote; the pages' renderer and what runs in browsers,
 * which have suites of their own; the programs that readers copy, which run outside the service.
 */
const NOT_CHANGED = /^src\/(dev|site\/render|site\/browser|docs)\/|\.gen\.ts$/;

const no = () => false;
const nothing = () => undefined;
/** StrykerJS wants a log. Nobody reads this one. */
const SILENT = {
  isTraceEnabled: no,
  isDebugEnabled: no,
  isInfoEnabled: no,
  isWarnEnabled: no,
  isErrorEnabled: no,
  isFatalEnabled: no,
  trace: nothing,
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  fatal: nothing,
};

/**
 * Finds every candidate in the TypeScript files of src/. The order, and so the ids, depend only on the files' texts. The
 * first call has npm install StrykerJS's instrumenter.
 */
export async function candidatesIn(root: string, signal: AbortSignal): Promise<Candidates> {
  const modules = await withTools(() => installPackages([INSTRUMENTER], signal));
  if (modules === undefined) throw new SetupError(`${INSTRUMENTER} could not be installed. npm's error is above.`);
  const entry = join(modules, "@stryker-mutator/instrumenter/dist/src/index.js");
  const { Instrumenter } = (await import(pathToFileURL(entry).href)) as StrykerJs;
  const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .map((name) => join("src", name))
    .filter((file) => file.endsWith(".ts") && !NOT_CHANGED.test(file))
    .toSorted();
  const texts = new Map(files.map((file) => [file, readFileSync(join(root, file), "utf8")]));
  const { mutants, files: instrumented } = await new Instrumenter(SILENT).instrument(
    [...texts].map(([name, content]) => ({ name, content, mutate: true })),
    { plugins: null, excludedMutations: [], ignorers: [{ shouldIgnore: inLogsAndErrors }] },
  );
  const all = mutants
    .filter(({ status }) => status !== "Ignored")
    .map(({ id, fileName: file, location, replacement, mutatorName }) => {
      const text = texts.get(file) ?? "";
      const [start, end] = [offsetOf(text, location.start), offsetOf(text, location.end)];
      return { id, file, start, end, replacement: standalone(replacement, mutatorName) };
    });
  return { all, texts, instrumented: new Map(instrumented.map(({ name, content }) => [name, content])) };
}

/** Returns a file's text with the candidate in it. */
export function changed(text: string, { start, end, replacement }: Candidate): string {
  return text.slice(0, start) + replacement + text.slice(end);
}

/** Returns the lines that a candidate changes, before and after, as a diff without context. */
export function diffOf(text: string, { file, start, end, replacement }: Candidate): string {
  const first = text.lastIndexOf("\n", start - 1) + 1;
  const last = text.indexOf("\n", end);
  const old = text.slice(first, last);
  const now = text.slice(first, start) + replacement + text.slice(end, last);
  const marked = (mark: string, lines: string) => lines.split("\n").map((line) => mark + line);
  return [`--- ${file}:${lineOf(text, start)}`, ...marked("-", old), ...marked("+", now)].join("\n");
}

/** Returns the line, counted from 1, on which an offset of a text lies. */
export function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

/** Puts an expression in brackets, so that it means the same among other operators. Words and short literals need none. */
function standalone(replacement: string, mutator: string): string {
  const isWhole = mutator === "BlockStatement" || /^((case|default|for)\b|(\w+|"[^"\n]*"|``|\[\])$)/.test(replacement);
  return isWhole ? replacement : `(${replacement})`;
}

function offsetOf(text: string, { line, column }: Position): number {
  let start = 0;
  for (let n = 0; n < line; n++) start = text.indexOf("\n", start) + 1;
  return start + column;
}
