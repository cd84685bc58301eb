import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { type Static, Type } from "typebox";
import { parseEntry } from "../api/entries.ts";
import { checker } from "../api/input.ts";
import { type IdPrefix, looksLikeId } from "../infra/ids.ts";
import { invalid, Problem } from "../problems.ts";
import { Timestamp } from "../schema/fields.ts";

/** What was erased: an account, a candidate, or a part of one. `candidate` is null if the audit does not say whose part it was. */
const Line = Type.Object(
  {
    account: Type.String(),
    candidate: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    document: Type.Optional(Type.String()),
    reference: Type.Optional(Type.String()),
    at: Timestamp,
  },
  { additionalProperties: false },
);

export type ErasureLine = Static<typeof Line>;

/** A line of a file, from 1, or why it cannot be replayed. */
export interface NumberedLine {
  readonly number: number;
  readonly line: ErasureLine | Problem;
}

const PAGE = 100;
const check = checker(Line, "line");
const PREFIXES = { account: "acct", candidate: "cand", document: "doc", reference: "ref" } as const satisfies Record<
  string,
  IdPrefix
>;

/** Reads a file of lines, in pages. Leaves out empty lines. */
export async function* linesOf(file: string): AsyncGenerator<NumberedLine[]> {
  let page: NumberedLine[] = [];
  let number = 0;
  for await (const text of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
    number++;
    if (text.trim() === "") continue;
    page.push({ number, line: parsed(text) });
    if (page.length < PAGE) continue;
    yield page;
    page = [];
  }
  yield page;
}

function parsed(text: string): ErasureLine | Problem {
  try {
    const { value } = check(parseEntry(Buffer.from(text)));
    for (const [name, prefix] of Object.entries(PREFIXES) as [keyof typeof PREFIXES, IdPrefix][])
      if (value[name] != null && !looksLikeId(prefix, value[name]))
        throw invalid(`/${name}`, `must be an id ${prefix}_…`);
    const { candidate, document, reference } = value;
    if ((document ?? reference) === undefined ? candidate === null : document !== undefined && reference !== undefined)
      throw invalid("", "", "The line must name an account, a candidate, or one document or reference.");
    return value;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}
