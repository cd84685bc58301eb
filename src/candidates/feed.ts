import { problem } from "../problems.ts";
import type { CandidateRecord } from "./record.ts";
import type { CandidateState } from "./schema.ts";
import { feedPosition } from "./stored.ts";

/** A row of the feed, with where it stands in it. */
export interface FeedRow {
  readonly record: CandidateRecord;
  readonly change: string;
}

export interface FeedPage {
  readonly rows: readonly FeedRow[];
  readonly more: boolean;
}

export interface FeedQuery {
  readonly accountId: string;
  /** Rows whose `change` is greater than this. */
  readonly after: string;
  readonly state?: CandidateState | undefined;
  readonly external_id?: string | undefined;
  readonly limit: number;
}

/**
 * Where a reader stands in the feed. `after`: the last row it was given. `safe`: every change up to here was visible when
 * it was read, so nothing at or before it can still turn up.
 */
export interface Cursor {
  readonly after: string;
  readonly safe: string;
}

const START: Cursor = { after: "", safe: "" };

/**
 * The cursor to answer with.
 *
 * A change gets its place when its write begins and is seen when the write ends, at most `lagMs` later. So a page read at
 * `readAt` is complete only up to `readAt - lagMs`: a slower write may still appear behind rows already given. While there
 * is more to read the cursor goes on from the last row; at the end it steps back to what is known to be complete. A row may
 * so come twice, and none is left out.
 */
export function advance(from: Cursor, { rows, more }: FeedPage, readAt: number, lagMs: number): Cursor {
  const last = rows.at(-1)?.change ?? from.after;
  const complete = feedPosition(readAt - lagMs);
  // What was read before in this walk reaches up to `from.after` without a gap only if it was safe up to there.
  const safe = from.safe === from.after ? max(from.safe, min(last, complete)) : from.safe;
  return more ? { after: last, safe } : { after: safe, safe };
}

/** The place from which `updated_since` reads, that moment included; the start without one. */
export function cursorAt(updatedSince: string | undefined): Cursor {
  if (updatedSince === undefined) return START;
  // A leap second (RFC 3339, 5.7) is one that Date does not know.
  const position = feedPosition(Date.parse(updatedSince.replace(/:60(\.\d+)?(?=[Zz+-])/, ":59.999")));
  return { after: position, safe: position };
}

/** Cursors are opaque to clients: base64url of the two places. */
export function encodeCursor({ after, safe }: Cursor): string {
  return Buffer.from(after === safe ? after : `${after} ${safe}`).toString("base64url") || "0";
}

/** @throws problem invalid_query for text that is no cursor of ours. */
export function decodeCursor(text: string): Cursor {
  if (text === "0") return START;
  const plain = Buffer.from(text, "base64url").toString();
  const [after = "", safe = after, ...rest] = plain.split(" ");
  const known = [after, safe].every((place) => place === "" || /^\d{15}(\.cand_[0-9a-z]{26})?$/.test(place));
  if (!known || rest.length > 0 || encodeCursor({ after, safe }) !== text) {
    throw problem("invalid_query", "The cursor is not one that this list gave out.", {
      errors: [{ pointer: "/cursor", detail: "must be the cursor of an earlier page, as it was given" }],
    });
  }
  return { after, safe };
}

function min(a: string, b: string): string {
  return a < b ? a : b;
}

function max(a: string, b: string): string {
  return a > b ? a : b;
}
