import { hash } from "node:crypto";
import { renderTombstone } from "./erasure.ts";
import type { FeedEntry, FeedPage } from "./feed.ts";
import type { CandidateRecord } from "./record.ts";
import { renderCandidate } from "./render.ts";

/**
 * The schema version of rows. Raise it with every change of what `renderCandidate`, `renderTombstone` or `renderPage` returns
 * for the same record: rows that are stored with another version are rendered again when they are read, and pages get new
 * entity tags. `npm run test:upgrade` fails if that is forgotten.
 */
export const LIST_SCHEMA_VERSION = 5;

/**
 * Maximum size of a record that is stored with its row, in bytes of BSON. Rendering a larger one in one go would hold the event
 * loop. JSON has up to six times as many bytes, so a record and its row stay below 2 MiB.
 */
export const MAX_ROW_RECORD_BYTES = 256 * 1024;

/** A page of the feed has at most this many bytes of records, and of JSON, but always at least one row. */
export const MAX_PAGE_BYTES = 8 * 1024 * 1024;

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
  const json = JSON.stringify(renderCandidate(record));
  return { row_form: LIST_SCHEMA_VERSION, row_version: record.version, row: { json } };
}

/** What the list needs of a stored candidate. */
export interface RowSource extends FeedEntry {
  readonly _id: string;
  readonly updated_at: string;
  readonly deleted?: true;
  readonly row_form?: number;
  readonly row_version?: number;
  /** The row's JSON in UTF-8. */
  readonly json?: Uint8Array | undefined;
}

/**
 * Returns a candidate's row as JSON in UTF-8. Undefined if its stored row is missing or outdated: a process of an earlier
 * version does not know the row, and keeps it when it writes the candidate.
 */
export function jsonOf(source: RowSource): Uint8Array | undefined {
  const { _id: id, version, updated_at, deleted, row_form, row_version, json } = source;
  if (deleted === true && typeof version === "number" && typeof updated_at === "string")
    return Buffer.from(JSON.stringify(renderTombstone({ id, version, updated_at })));
  return row_form === LIST_SCHEMA_VERSION && row_version === version ? json : undefined;
}

/** Ends a page before the row with which its JSON would have more than MAX_PAGE_BYTES. */
export function cutPage(page: FeedPage): FeedPage {
  let bytes = 0;
  const end = page.rows.findIndex(({ json }, n) => (bytes += json?.length ?? 0) > MAX_PAGE_BYTES && n > 0);
  return end === -1 ? page : { rows: page.rows.slice(0, end), more: true };
}

/** Puts a page of the list (CandidateList) together from its rows, which are JSON already. Returns JSON in UTF-8, and its tag. */
export function renderPage({ rows, more }: FeedPage, cursor: string) {
  const shown = rows.flatMap(({ json, ...entry }) => (json === undefined ? [] : [{ ...entry, json }]));
  const parts: Uint8Array[] = [Buffer.from('{"object":"list","data":[')];
  for (const { json } of shown) {
    if (parts.length > 1) parts.push(COMMA);
    parts.push(json);
  }
  parts.push(Buffer.from(`],"has_more":${more},"cursor":${JSON.stringify(cursor)}}`));
  return { body: Buffer.concat(parts), tag: pageTag({ rows: shown, more }, cursor) };
}

const COMMA = Buffer.from(",");

/**
 * Returns the strong entity tag of a page: a hash of all that its bytes follow from. The rows' positions are in it because a
 * version number comes again with other content after a restore from a backup.
 */
export function pageTag({ rows, more }: FeedPage<FeedEntry>, cursor: string): string {
  const versions = rows.map(({ change, version }) => `${change} ${version}`);
  const facts = [LIST_SCHEMA_VERSION, more, cursor, ...versions].join("\n");
  return `"${hash("sha256", facts, "base64url").slice(0, 27)}"`;
}
