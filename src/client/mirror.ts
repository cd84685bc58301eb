import type { CallOptions } from "./transport.ts";
import { sleep } from "./sleep.ts";
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
  /** Rows of a page, up to 200 (the default). */
  readonly limit?: number | undefined;
  /** At the end of the feed, waits so many seconds and asks again, until an error or the signal ends it. Without it, the mirror ends there. */
  readonly every?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Reads one page of the feed. */
export type ReadPage = (
  query: { cursor?: string; limit: number },
  options: CallOptions,
) => Promise<Pick<CandidateList, "data" | "has_more" | "cursor">>;

/**
 * Iterates over the changes of all candidates, oldest change first. A row may be repeated, so insert or replace it by `id`.
 * Leaves out candidates that the service cannot show: a mirror keeps what it has of them.
 */
export class Mirror implements AsyncIterable<MirrorRow> {
  /** Store it after the rows that were given so far are stored. A mirror that starts with it misses nothing. */
  cursor: string | undefined;
  readonly #readPage: ReadPage;
  readonly #options: MirrorOptions;

  constructor(readPage: ReadPage, options: MirrorOptions) {
    this.#readPage = readPage;
    this.#options = options;
    this.cursor = options.cursor;
  }

  /** Gives whole pages, so that the rows of a page and its cursor can be stored in one transaction. */
  async *pages(): AsyncGenerator<MirrorPage, void, undefined> {
    const { limit = 200, every, signal } = this.#options;
    for (;;) {
      const from = this.cursor === undefined ? {} : { cursor: this.cursor };
      const { data, cursor, has_more } = await this.#readPage({ ...from, limit }, { signal });
      const unreadable = data.flatMap((row) => ("unreadable" in row ? row.id : []));
      yield { rows: data.flatMap(rowOf), unreadable, cursor };
      this.cursor = cursor; // only now: the caller has stored the page
      if (has_more) continue;
      if (every === undefined) return;
      await sleep(every * 1000, signal);
    }
  }

  /** Gives each row. */
  async *[Symbol.asyncIterator](): AsyncGenerator<MirrorRow, void, undefined> {
    for await (const { rows } of this.pages()) yield* rows;
  }
}

/** The contract says that `deleted` is a boolean. It is always true. */
function rowOf(row: CandidateRow): MirrorRow | [] {
  if ("unreadable" in row) return [];
  return "deleted" in row ? { ...row, deleted: true } : row;
}
