import { renderTombstone } from "./erasure.ts";
import type { CandidateRecord } from "./record.ts";
import { renderCandidate } from "./render.ts";

/**
 * The form in which the list shows candidates. Raise it with every change of what `renderCandidate`, `renderTombstone` or
 * `renderPage` returns for the same record: rows that are stored in another form are rendered again when they are read,
 * and pages get new entity tags. `npm run test:upgrade` fails if that is forgotten.
 */
export const LIST_FORM = 2;

/**
 * Largest record that is stored with its row, in bytes of BSON. Rendering a larger one in one go would hold the event
 * loop. JSON has up to six times as many bytes, so a record and its row stay below 2 MiB.
 */
export const MAX_ROW_RECORD_BYTES = 256 * 1024;

/** A candidate as the list shows it, rendered when it was written and stored in its record. */
export interface StoredRow {
  row_form: number;
  /** The candidate's version that the row shows. */
  row_version: number;
  /** A document of its own, so that a reader gets its bytes without decoding them. */
  row: { json: string };
}

/** Renders the row of a record that is about to be written. */
export function storedRow(record: CandidateRecord): StoredRow {
  return {
    row_form: LIST_FORM,
    row_version: record.version,
    row: { json: JSON.stringify(renderCandidate(record)) },
  };
}

/** What the list needs of a stored candidate. */
export interface RowSource {
  readonly _id: string;
  readonly change: string;
  readonly version: number;
  readonly updated_at: string;
  readonly deleted?: true;
  readonly row_form?: number;
  readonly row_version?: number;
  /** The row's JSON in UTF-8. */
  readonly json?: Uint8Array | undefined;
}

/**
 * Returns a candidate's row as JSON in UTF-8. Undefined if its stored row is missing or may not be shown: it has another
 * form, or shows another version. A process of an earlier version keeps the row when it writes the candidate, because it
 * does not know these members.
 */
export function jsonOf(source: RowSource): Uint8Array | undefined {
  const { _id: id, version, updated_at, deleted, row_form, row_version, json } = source;
  if (deleted === true) return Buffer.from(JSON.stringify(renderTombstone({ id, version, updated_at })));
  return row_form === LIST_FORM && row_version === version ? json : undefined;
}
