import { type BsonValue, valuesReader } from "../infra/bson-values.ts";
import type { FeedPlace } from "./feed.ts";
import type { RowSource } from "./row.ts";

/** What a page is made from: the members that MongoDB returns of each candidate, and how they are read from BSON. */
export interface RowReading<Row> {
  readonly projection: Readonly<Record<string, 0 | 1>>;
  /** `size` is that of the record, in bytes of BSON. */
  readonly read: (document: Buffer) => Row & { readonly size: number };
}

const ROW = ["_id", "change", "version", "updated_at", "size", "deleted", "row_form", "row_version", "row"] as const;
const PLACE = ["change", "version", "size"] as const;

const rowValues = valuesReader(ROW);
const placeValues = valuesReader(PLACE);

/** Reads what the list needs of a candidate. The row's text is a view of the document: it is never decoded. */
export const ROWS: RowReading<RowSource> = {
  projection: Object.fromEntries(ROW.map((name) => [name, 1])),
  read(document) {
    const [_id, change, version, updated_at, size, deleted, row_form, row_version, row] = rowValues(document);
    return {
      _id,
      change,
      version,
      updated_at,
      size,
      deleted,
      row_form,
      row_version,
      json: textIn(row),
    } as RowSource & { size: number };
  },
};

/** Reads the place of a candidate alone. */
export const PLACES: RowReading<FeedPlace> = {
  projection: { _id: 0, ...Object.fromEntries(PLACE.map((name) => [name, 1])) },
  read(document) {
    const [change, version, size] = placeValues(document);
    return { change, version, size } as FeedPlace & { size: number };
  },
};

/** The header of a document whose first member is the text `json`: its length, the type and the name. */
const [TEXT_AT, TEXT_TYPE] = [4, 0x02];
const BEFORE_TEXT = TEXT_AT + 1 + "json\0".length;

/** Returns the text of a document whose only member is a text (StoredRow). */
function textIn(row: BsonValue): Uint8Array | undefined {
  if (!(row instanceof Uint8Array) || row[TEXT_AT] !== TEXT_TYPE) return undefined;
  const length = row.readInt32LE(BEFORE_TEXT);
  return row.subarray(BEFORE_TEXT + 4, BEFORE_TEXT + 4 + length - 1); // a zero byte stands after it
}
