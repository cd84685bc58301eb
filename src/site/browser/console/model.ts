import type { Candidate, CandidateState } from "../../../candidates/schema.ts";
import type { DeletedCandidate, UnreadableCandidate } from "../../../candidates/row-schema.ts";
import type { CandidateOutreach } from "../../../reminders/history-schema.ts";
import type { UsageReport } from "../../../usage/schema.ts";
import type { Webhook } from "../../../webhooks/schema.ts";
import type { Reading } from "./limits.ts";
import type { Page } from "./page.ts";
import type { Failure } from "./result.ts";
import { PAUSED } from "./watch.ts";

export interface ListQuery {
  readonly state: CandidateState | "";
  readonly externalId: string;
  /** Changed within so many hours; 0 for at any time. */
  readonly hours: number;
  /** Searches by the beginnings of words. The other filters then do not count. */
  readonly q: string;
}

type Row = Candidate | DeletedCandidate | UnreadableCandidate;

/** The rows that were read so far, oldest change first. */
export interface List {
  readonly query: ListQuery;
  readonly rows: readonly Row[];
  readonly cursor: string;
  readonly hasMore: boolean;
  readonly readAt: Date;
}

/** A file that was read: a pack, or a document's content. */
export interface Saved {
  /** A blob URL. */
  readonly url: string;
  readonly filename: string;
  readonly size: number;
}

/** The form that asks for a key: the first one, or another of the account. */
export interface KeyEntry {
  /** True if a key that was entered is being checked. */
  readonly checking: boolean;
  /** Why the last key that was entered is not used. Empty if nothing is wrong with it. */
  readonly fault: string;
}

/** Everything that the page shows. app.ts changes it, the views read it. */
export class Model {
  page: Page = { kind: "limits" };
  /** The tab's own key first, then others of the same account. Empty before a key is entered. */
  keys: readonly string[] = [];
  /** By key. */
  readings: ReadonlyMap<string, Reading> = new Map();
  /** The account's last 24 hours. */
  usage: UsageReport | undefined;
  watch = PAUSED;
  entry: KeyEntry = { checking: false, fault: "" };
  list: List | undefined;
  /** By id. */
  candidates: ReadonlyMap<string, { readonly candidate: Candidate; readonly readAt: Date }> = new Map();
  /** The messages sent, by candidate. */
  histories: ReadonlyMap<string, CandidateOutreach> = new Map();
  webhooks: readonly Webhook[] | undefined;
  webhooksReadAt = new Date(0);
  /** The webhook that was tested last, and what became of the nudge. */
  tested: { readonly id: string; readonly text: string } | undefined;
  /** By path. */
  files: ReadonlyMap<string, Saved> = new Map();
  /** The path of the click's request that is under way. */
  busy: string | undefined;
  /** The last click's failure, and the path of its request. */
  failure: { readonly path: string; readonly result: Failure; readonly at: Date } | undefined;
  /** What a screen reader says. */
  said = "";

  /** Returns the readings of the keys, in their order. */
  known(): Reading[] {
    return this.keys.flatMap((key) => this.readings.get(key) ?? []);
  }
}

/** Returns false for a row that stands for an erased candidate, or for one whose record is damaged. */
export function isCandidate(row: Row): row is Candidate {
  return "state" in row;
}

/** Returns the rows with those of a later page. The feed may repeat a row; the later one is the newer one. */
export function withRows(rows: List["rows"], later: List["rows"]): List["rows"] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  for (const row of later) {
    byId.delete(row.id);
    byId.set(row.id, row);
  }
  return [...byId.values()];
}

/** Returns a list with what a candidate is now; undefined if it is gone. Rows of erased candidates stay. */
export function withCandidate(list: List | undefined, id: string, now: Candidate | undefined): List | undefined {
  if (list === undefined) return undefined;
  const rows = list.rows.flatMap((row) => (row.id !== id || !isCandidate(row) ? row : (now ?? [])));
  return { ...list, rows };
}

export function listPath({ state, externalId, hours, q }: ListQuery, cursor: string | undefined, now: number): string {
  const limit = String(ROWS);
  if (q !== "") return `/candidates?${new URLSearchParams({ limit, q }).toString()}`;
  const query = new URLSearchParams({ limit });
  if (state !== "") query.set("state", state);
  if (externalId !== "") query.set("external_id", externalId);
  if (cursor !== undefined) query.set("cursor", cursor);
  else if (hours > 0) query.set("updated_since", new Date(now - hours * 3_600_000).toISOString());
  return `/candidates?${query.toString()}`;
}

/** Rows of one page. A page costs one request, however many rows it has. */
export const ROWS = 50;
