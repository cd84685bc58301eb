import { createHash } from "node:crypto";
import { Stretch } from "../infra/turns.ts";
import { asTag } from "./entity-tags.ts";

/** Levels of lists and objects that are taken apart: a page, its rows, a row, its documents. */
const LEVELS = 4;
/** Characters that are hashed at once, at least. */
const HASHED_AT_ONCE = 64 * 1024;

/**
 * Returns a value as `JSON.stringify` writes it, with its entity tag. A page of the list has up to 4 MiB, so this is done
 * in stretches, between which the event loop serves other requests.
 * @param gap is put before each item of a list, down to a few levels. White space, which JSON ignores.
 */
export async function jsonText(value: unknown, gap = ""): Promise<{ text: string; tag: string }> {
  const stretch = new Stretch();
  const hash = createHash("sha256");
  const done: string[] = [];
  let pending = "";
  const flush = (): void => {
    hash.update(pending);
    done.push(pending);
    pending = "";
  };
  for (const piece of piecesOf(value, LEVELS, gap)) {
    pending += piece;
    if (pending.length > HASHED_AT_ONCE) flush();
    if (stretch.isOver()) await stretch.nextTurn();
  }
  flush();
  return { text: done.join(""), tag: asTag(hash) };
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
    // Of an object's own objects, only those of the outermost one can be large.
    if (Array.isArray(member) || levels === LEVELS) {
      yield text;
      yield* piecesOf(member, levels - 1, gap);
      text = "";
    } else text += JSON.stringify(member);
  }
  yield `${text}}`;
}
