import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import type { Pack } from "./schema.ts";

/** Characters of JSON that are made in one turn of the event loop: about 1 ms. */
const TURN = 64 * 1024;

/**
 * Generates the JSON of an object in pieces: the same text as JSON.stringify. Each item of an array that is a member is a
 * piece. A pack has up to 8 MiB, which would take 50 ms at once; one document or reference takes less than 1 ms.
 * @param gap is put before each member and each of those items. White space, which JSON ignores.
 */
export function* jsonPieces(value: object, gap = ""): Generator<string> {
  let comma = "{";
  for (const [name, member] of Object.entries(value) as [string, unknown][]) {
    yield `${comma}${gap}${JSON.stringify(name)}:`;
    if (Array.isArray(member)) yield* itemPieces(member, gap);
    else yield JSON.stringify(member);
    comma = ",";
  }
  yield comma === "{" ? "{}" : `${gap}}`;
}

function* itemPieces(items: readonly unknown[], gap: string): Generator<string> {
  yield "[";
  for (const [index, item] of items.entries()) yield `${index === 0 ? "" : ","}${gap}${JSON.stringify(item)}`;
  yield "]";
}

/** Returns the pieces as UTF-8. Other requests have their turns meanwhile. */
export async function joined(pieces: Iterable<string>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of inTurns(pieces)) parts.push(Buffer.from(part));
  return Buffer.concat(parts);
}

/**
 * Returns the strong entity tag (RFC 9110, 8.8.3) of what a pack shows in a format, apart from the time it was generated.
 * @param layout identifies how the format shows it.
 */
export async function packTag(pack: Pack, form: string, layout: string): Promise<string> {
  const { generated_at: _, ...facts } = pack;
  const hash = createHash("sha256").update(`[${JSON.stringify(form)},${JSON.stringify(layout)},`);
  for await (const part of inTurns(jsonPieces(facts))) hash.update(part);
  return `"${hash.update("]").digest("base64url").slice(0, 27)}"`;
}

/** Joins pieces to parts of about `TURN` characters, and lets the event loop turn between two parts. */
async function* inTurns(pieces: Iterable<string>): AsyncGenerator<string> {
  let part = "";
  for (const piece of pieces) {
    part += piece;
    if (part.length < TURN) continue;
    yield part;
    part = "";
    await setImmediate();
  }
  yield part;
}
