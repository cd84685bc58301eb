import { TimeSlice } from "./time-slice.ts";

/** Levels of lists and objects that are split: a page, its rows, a row, its documents. */
const LEVELS = 4;
/** Minimum number of characters of a part, except for the last. */
const PART = 64 * 1024;

/**
 * Generates the text that `JSON.stringify` writes, in parts. A response has up to 8 MiB, so the event loop serves
 * other requests in between.
 * @param gap white space before each item of a list, down to LEVELS.
 */
export async function* jsonParts(value: unknown, gap = ""): AsyncGenerator<string> {
  const slice = new TimeSlice();
  let part = "";
  for (const piece of piecesOf(value, LEVELS, gap)) {
    part += piece;
    if (part.length > PART) {
      yield part;
      part = "";
    }
    if (slice.isOver()) await slice.next();
  }
  yield part;
}

/** Returns the same text at once, in UTF-8. */
export async function jsonBytes(value: unknown, gap?: string): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of jsonParts(value, gap)) parts.push(Buffer.from(part));
  return Buffer.concat(parts);
}

/** Yields the text of a value in pieces: the items of its lists, down to `levels` below it. */
function* piecesOf(value: unknown, levels: number, gap: string): Generator<string> {
  if (levels === 0 || typeof value !== "object" || value === null) yield JSON.stringify(value);
  else if (Array.isArray(value)) yield* itemsOf(value, levels, gap);
  else yield* membersOf(value, levels, gap);
}

function* itemsOf(list: readonly unknown[], levels: number, gap: string): Generator<string> {
  let before = "[";
  for (const item of list) {
    yield before + gap;
    yield* piecesOf(item, levels - 1, gap);
    before = ",";
  }
  yield list.length === 0 ? "[]" : "]";
}

function* membersOf(object: object, levels: number, gap: string): Generator<string> {
  let text = "{";
  let comma = "";
  for (const [name, member] of Object.entries(object) as [string, unknown][]) {
    if (member === undefined) continue;
    text += `${comma}${JSON.stringify(name)}:`;
    comma = ",";
    // Only the outermost object has members that are large objects.
    if (Array.isArray(member) || levels === LEVELS) {
      yield text;
      yield* piecesOf(member, levels - 1, gap);
      text = "";
    } else text += JSON.stringify(member);
  }
  yield `${text}}`;
}
