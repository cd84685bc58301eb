import { isUtf8 } from "node:buffer";
import { BSON } from "mongodb";
import type { RowSource } from "./rows.ts";
import type { Stored } from "./stored.ts";

/** Reads a row of the list. The row's text is a view of the document: it is never decoded. The other texts are ASCII. */
export function rowIn(document: Buffer): RowSource & Pick<Stored, "size"> {
  const options = { raw: true, validation: { utf8: false } } as const;
  const { row, ...source } = BSON.deserialize(document, options) as Omit<Stored, "row"> & { row?: Uint8Array };
  return { ...source, json: row instanceof Uint8Array ? textIn(row) : undefined };
}

/** BSON's type of a text. */
const TEXT = 2;

/** Returns the text of a BSON document whose only member is the text of an object (StoredRow). Undefined if it is not. */
function textIn(document: Uint8Array): Uint8Array | undefined {
  const [element] = BSON.onDemand.parseToElements(document);
  if (element === undefined || element[0] !== TEXT) return undefined;
  const [, , , offset, length] = element;
  const text = document.subarray(offset + 4, offset + length - 1); // the length stands before it, a zero byte after it
  return text[0] === 0x7b && text.at(-1) === 0x7d && isUtf8(text) ? text : undefined;
}
