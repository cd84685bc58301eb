import { BSON } from "mongodb";
import type { FeedEntry } from "./feed.ts";
import type { RowSource } from "./row.ts";
import type { Stored } from "./stored.ts";

/** What a page is made from: the members that MongoDB returns of each candidate, and how they are read from BSON. */
export interface RowReading<Row> {
  readonly projection: Readonly<Record<string, 0 | 1>>;
  /** `size` is that of the record, in bytes of BSON. */
  readonly read: (document: Buffer) => Row & Pick<Stored, "size">;
}

/** Reads what the list needs of a candidate. The row's text is a view of the document: it is never decoded. */
export const ROWS: RowReading<RowSource> = {
  projection: {
    change: 1,
    version: 1,
    updated_at: 1,
    size: 1,
    deleted: 1,
    row_form: 1,
    row_version: 1,
    row: 1,
  },
  read(document) {
    const { row, ...source } = BSON.deserialize(document, { raw: true }) as Omit<Stored, "row"> & { row?: Uint8Array };
    return { ...source, json: row === undefined ? undefined : textIn(row) };
  },
};

/** Saves a second look at each text, for what is not UTF-8: places are ASCII. */
const UNCHECKED = { validation: { utf8: false } };

/** Reads the place of a candidate alone. */
export const PLACES: RowReading<FeedEntry> = {
  projection: { _id: 0, change: 1, version: 1, size: 1 },
  read: (document) => BSON.deserialize(document, UNCHECKED) as Pick<Stored, "change" | "version" | "size">,
};

/** Returns the text of a BSON document whose only member is a text (StoredRow). */
function textIn(document: Uint8Array): Uint8Array | undefined {
  const [element] = BSON.onDemand.parseToElements(document);
  if (element === undefined) return undefined;
  const [, , , offset, length] = element;
  return document.subarray(offset + 4, offset + length - 1); // the length stands before it, a zero byte after it
}
