import { ConnectionError, ProblemError } from "./errors.ts";
import { sleep } from "./sleep.ts";
import { anyOf, type CallOptions } from "./transport.ts";
import type { Candidate, CandidateList, CandidateRow, DeletedCandidate } from "./types.gen.ts";

/** A candidate as it is now, or `{ id, deleted: true }` for one that was erased. */
export type MirrorRow = (Candidate & { deleted?: false }) | (DeletedCandidate & { deleted: true });

export interface MirrorPage {
  readonly rows: MirrorRow[];
  /** Ids of candidates that the service cannot show, because their records are damaged. Keep what you have of them. */
  readonly unreadable: string[];
  /** Store it together with the rows. */
  readonly cursor: string;
}

export interface MirrorOptions {
  /** Where an earlier mirror ended. Without it, the mirror begins with the oldest candidate. */
  readonly cursor?: string | undefined;
  /** Rows of a page, up to 1,000 (the default). */
  readonly limit?: number | undefined;
  /** At the end of the feed, waits so many seconds and asks again, until an error or the signal ends it. Without it, the mirror ends there. */
  readonly every?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What a copy has of one candidate: an object, or an entry of a Map of ids to versions. */
export type CopiedCandidate = { readonly id: string; readonly version: number } | [id: string, version: number];

/** Where a copy differs from the service. */
export interface Verification {
  /** Candidates that were compared, missing ones included. */
  readonly checked: number;
  /** Candidates that the copy lacks, with their versions. */
  readonly missing: { id: string; version: number }[];
  /** Ids of candidates that the service does not have, or has no more. */
  readonly extra: string[];
  /** Candidates of which the copy has another version. */
  readonly different: { id: string; version: number; has: number }[];
}

export type ReadPage = (
  query: { cursor?: string; limit: number },
  options: CallOptions,
) => Promise<Pick<CandidateList, "data" | "has_more" | "cursor">>;

/** `follow` reads once in this time, in milliseconds, and three times more after a pause: 120 times in an hour, as a key may. */
const PACE_MS = 31_000;

/**
 * Iterates over the changes of all candidates, oldest change first. A row may be repeated, so insert or replace it by `id`.
 * Leaves out candidates that the service cannot show: a mirror keeps what it has of them.
 */
export class Mirror implements AsyncIterable<MirrorRow> {
  /** Store it after the rows that were given so far are stored. A mirror that starts with it misses nothing. */
  cursor: string | undefined;
  readonly #readPage: ReadPage;
  readonly #options: MirrorOptions;
  #nudged = new AbortController();

  constructor(readPage: ReadPage, options: MirrorOptions) {
    this.#readPage = readPage;
    this.#options = options;
    this.cursor = options.cursor;
  }

  /** Gives whole pages, so that the rows of a page and its cursor can be stored in one transaction. */
  async *pages(): AsyncGenerator<MirrorPage, void, undefined> {
    const { limit = 1_000, every, signal } = this.#options;
    for (;;) {
      const from = this.cursor === undefined ? {} : { cursor: this.cursor };
      const { data, cursor, has_more } = await this.#readPage({ ...from, limit }, { signal });
      if (typeof cursor !== "string" || (has_more && cursor === this.cursor))
        throw new TypeError("The service's answer does not lead on in the feed.");
      const unreadable = data.flatMap((row) => ("unreadable" in row ? row.id : []));
      yield { rows: data.flatMap(rowOf), unreadable, cursor };
      this.cursor = cursor; // only now: the caller has stored the page
      if (has_more) continue;
      if (every === undefined) return;
      await sleep(every * 1000, signal);
    }
  }

  /**
   * Gives pages as `pages` does, and goes on at the end of the feed, after a nudge or after `every` seconds (by default 15 minutes).
   * What passes by itself does not end it: after a limit, a lost connection or a 5xx it reads again later.
   * @param onError called with such an error.
   */
  async *follow(onError?: (error: unknown) => void): AsyncGenerator<MirrorPage, void, undefined> {
    const { every = 900, ...options } = this.#options;
    for (let turn = -Infinity; ;) {
      await sleep(turn - performance.now(), options.signal);
      turn = Math.max(turn, performance.now() - 3 * PACE_MS) + PACE_MS;
      const nudged = (this.#nudged = new AbortController()); // before it reads: a nudge meanwhile counts
      let waitMs = every * 1000;
      try {
        for await (const page of new Mirror(this.#readPage, { ...options, cursor: this.cursor }).pages()) {
          yield page;
          this.cursor = page.cursor;
        }
      } catch (error) {
        const status = error instanceof ConnectionError ? 503 : error instanceof ProblemError ? error.status : 0;
        if (status !== 429 && status < 500) throw error;
        onError?.(error);
        waitMs = PACE_MS;
      }
      await sleep(waitMs, anyOf([nudged.signal, options.signal])).catch(() => options.signal?.throwIfAborted());
    }
  }

  /** Has `follow` read again, at once or after what it reads now. Call it for each nudge. */
  nudge(): void {
    this.#nudged.abort();
  }

  /**
   * Says where a copy differs from the service. Reads the whole feed, and keeps all ids and versions. Call it while the mirror
   * does not run. Candidates that changed after `cursor` are not compared, because the next run brings them; nor those that
   * the service cannot show, and perhaps those of the last seconds before the cursor.
   * @param copy what the copy has, each candidate once. It is read last.
   */
  async verify(copy: Iterable<CopiedCandidate> | AsyncIterable<CopiedCandidate>): Promise<Verification> {
    const { cursor } = this;
    const { limit, signal } = this.#options;
    const versions = new Map<string, number>();
    const ignored = new Set<string>();
    for await (const { rows, unreadable } of new Mirror(this.#readPage, { limit, signal }).pages()) {
      for (const row of rows) {
        if (row.deleted) versions.delete(row.id);
        else versions.set(row.id, row.version);
      }
      for (const id of unreadable) ignored.add(id);
    }
    if (cursor !== undefined)
      for await (const { rows, unreadable } of new Mirror(this.#readPage, { cursor, limit, signal }).pages())
        for (const id of [...rows.map((row) => row.id), ...unreadable]) ignored.add(id);
    for (const id of ignored) versions.delete(id);
    const checked = versions.size;
    const extra: string[] = [];
    const different: Verification["different"] = [];
    for await (const row of copy) {
      const [id, has] = Array.isArray(row) ? row : [row.id, row.version];
      const version = versions.get(id);
      if (version === undefined && !ignored.has(id)) extra.push(id);
      if (version !== undefined && version !== has) different.push({ id, version, has });
      versions.delete(id);
    }
    return { checked, missing: Array.from(versions, ([id, version]) => ({ id, version })), extra, different };
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<MirrorRow, void, undefined> {
    for await (const { rows } of this.pages()) yield* rows;
  }
}

/** The contract says that `deleted` is a boolean. It is always true. */
function rowOf(row: CandidateRow): MirrorRow | [] {
  if ("unreadable" in row) return [];
  return "deleted" in row ? { ...row, deleted: true } : row;
}
