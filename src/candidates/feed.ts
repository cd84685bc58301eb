import { epochOf } from "../infra/clock.ts";
import { problem } from "../problems.ts";
import { feedPosition } from "./feed-clock.ts";
import type { CandidateState } from "./schema.ts";

/** A candidate's feed position (`change`), and its version there. */
export interface FeedEntry {
  readonly change: string;
  readonly version: number;
}

export interface FeedRow extends FeedEntry {
  /** The candidate or its tombstone as JSON in UTF-8. Undefined if it was changed while the page was read: it comes later. */
  readonly json: Uint8Array | undefined;
}

export interface FeedPage<Row extends FeedEntry = FeedRow> {
  readonly rows: readonly Row[];
  readonly more: boolean;
}

export interface FeedQuery {
  readonly accountId: string;
  readonly after: string;
  readonly state?: CandidateState | undefined;
  readonly external_id?: string | undefined;
  /** Beginnings of words. The page is then of candidates that have all of them, the newest first. */
  readonly words?: readonly string[] | undefined;
  readonly limit: number;
}

/**
 * Where a reader continues. `after`: the position of the last row that it was given. `safe`: the position up to which every
 * change was visible when it was read, so that no change can still appear at or before it.
 */
export interface Cursor {
  readonly after: string;
  readonly safe: string;
}

const START: Cursor = { after: "", safe: "" };

/**
 * Returns the cursor for the next page. While there are more rows, it continues after the last one. At the end of the feed it
 * steps back to the last position known to be complete, because a slow write may still appear before rows that were already
 * returned. A row may be repeated; it is never skipped.
 * @param completeUntil no change can appear any more before this time, in milliseconds since the epoch. It must have been
 * read before the page.
 */
export function advance(from: Cursor, { rows, more }: FeedPage<FeedEntry>, completeUntil: number): Cursor {
  const last = rows.at(-1)?.change ?? from.after;
  const complete = feedPosition(completeUntil);
  const end = last < complete ? last : complete;
  // This page moves `safe` forward only if the feed was known to be complete up to `from.after`.
  const safe = from.safe === from.after && end > from.safe ? end : from.safe;
  return more ? { after: last, safe } : { after: safe, safe };
}

/**
 * Returns the cursor for `updated_since`, `lagMs` before that moment: a poller that keeps only the largest updated_at that it
 * has seen then also gets the changes that became visible later. Without updated_since, returns the start of the feed.
 */
export function cursorAt(updatedSince: string | undefined, lagMs: number): Cursor {
  if (updatedSince === undefined) return START;
  const position = feedPosition(epochOf(updatedSince) - lagMs);
  return { after: position, safe: position };
}

/** Encodes a cursor as base64url of its two positions, opaque to clients. */
export function encodeCursor({ after, safe }: Cursor): string {
  return Buffer.from(after === safe ? after : `${after} ${safe}`).toString("base64url") || "0";
}

/** @throws problem invalid_query if `encodeCursor` did not make the text. */
export function decodeCursor(text: string): Cursor {
  if (text === "0") return START;
  const plain = Buffer.from(text, "base64url").toString();
  const [after = "", safe = after, ...rest] = plain.split(" ");
  const valid = [after, safe].every((position) => position === "" || /^\d{15}(\.cand_[0-9a-z]{26})?$/.test(position));
  if (!valid || rest.length > 0 || encodeCursor({ after, safe }) !== text) {
    const detail = "The cursor is not valid. Send the cursor of an earlier page unchanged, or none to start over.";
    const errors = [{ pointer: "/cursor", detail: "must be the cursor of an earlier page, unchanged" }];
    throw problem("invalid_query", detail, { errors });
  }
  return { after, safe };
}
