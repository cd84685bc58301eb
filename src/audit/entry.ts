import { hash } from "node:crypto";

/** Details of an entry. Never a secret or a hash of one. */
export type AuditDetails = Readonly<Record<string, string | number | boolean | null>>;

/** What the audit is told: a change that is about to be made, its end, or a deletion or a read in one. */
export interface AuditEvent {
  readonly _id: string;
  readonly actor: string;
  readonly action: string;
  readonly account: string;
  /** The id of what is changed or read. */
  readonly subject: string;
  readonly details: AuditDetails;
  /** The id of the entry whose change this one ends. Null otherwise. */
  readonly of: string | null;
  /** Null for a change that is about to be made: another entry ends it. */
  readonly outcome: "done" | "failed" | null;
  /** The detail of the problem. Null unless it failed. */
  readonly reason: string | null;
}

/** What an event has that is over when it is told: a deletion or a read. */
export const DONE = { of: null, outcome: "done", reason: null } as const;

/** An entry. `seq`, `previous` and `hash` are null if it was written by 0.1.0, which had no chain. */
export interface AuditRecord extends AuditEvent {
  /** When it was written: not before the entry that precedes it in its account. */
  readonly at: string;
  /** Counts the entries of the account from 1, without gaps. */
  readonly seq: number | null;
  /** The hash of the entry that precedes it in its account. Null for the first. */
  readonly previous: string | null;
  /** SHA-256 of the line of the entry without this member, in hexadecimal. */
  readonly hash: string | null;
}

/** Returns an entry as it is exported. The names are sorted, so that `jq -cS 'del(.hash)'` reproduces what is hashed. */
export function lineOf({ account, action, actor, at, details, hash, _id, of, outcome, ...rest }: AuditRecord): string {
  const { previous, reason, seq, subject } = rest;
  const sorted = Object.fromEntries(Object.entries(details).toSorted(([one], [other]) => (one < other ? -1 : 1)));
  const first = { account_id: account, action, actor, at, details: sorted };
  const last = { id: _id, of, outcome, previous, reason, seq, subject };
  return JSON.stringify(hash === "" ? { ...first, ...last } : { ...first, hash, ...last });
}

export function hashOf(record: AuditRecord): string {
  return hash("sha256", lineOf({ ...record, hash: "" }), "hex");
}

/** Returns the entry that follows another one in its account. `head` is undefined if there is none. */
export function chained(event: AuditEvent, head: AuditRecord | undefined, now: string): AuditRecord {
  const at = head !== undefined && head.at > now ? head.at : now;
  const record = { ...event, at, seq: (head?.seq ?? 0) + 1, previous: head?.hash ?? null, hash: "" };
  return { ...record, hash: hashOf(record) };
}
