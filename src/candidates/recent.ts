import { LRUCache } from "lru-cache";
import type { CandidateRecord } from "./record.ts";
import { sizeOf } from "./stored.ts";

/** Bounds the memory: bytes of BSON. A record takes two to three times as many in memory. */
const MAX_BYTES = 8 * 1024 * 1024;
/** How long a record may be used, in milliseconds. It has left the memory after twice that. */
const USED_MS = 60_000;
/** What a mark counts against MAX_BYTES. */
const MARK_BYTES = 256;

/** Says that other processes change the candidate too, or that it is being erased: none of its records is kept. */
const MARK = "unkept";

/**
 * The records that this process has read or written in the last minute. A change starts from such a record and saves a
 * read. The record may be out of date, so nothing else may use it: no reader gets it, and it refuses nothing. Only a
 * compare-and-set on its version shows that it was the current one.
 */
export class RecentRecords {
  readonly #records: LRUCache<string, CandidateRecord | typeof MARK>;
  readonly #usedMs: number;
  #purging = false;

  constructor({ maxBytes = MAX_BYTES, usedMs = USED_MS } = {}) {
    this.#usedMs = usedMs;
    this.#records = new LRUCache({ maxSize: maxBytes, ttl: usedMs, ttlResolution: Math.min(usedMs, 1_000) });
  }

  /** Bytes of BSON of the records that are kept. */
  get bytes(): number {
    return this.#records.calculatedSize;
  }

  get(accountId: string, id: string): CandidateRecord | undefined {
    const found = this.#records.get(`${accountId} ${id}`);
    return found === MARK ? undefined : found;
  }

  /** Keeps a record that was read or written, unless a later version is known. */
  keep(record: CandidateRecord): void {
    const { accountId, id, version, erasure } = record;
    // The end of an erasure changes the record without a new version, so a compare-and-set would not notice it.
    if (erasure !== null) return this.avoid(accountId, id);
    const key = `${accountId} ${id}`;
    const known = this.#records.get(key);
    if (known === MARK || (known !== undefined && known.version >= version)) return;
    this.#records.set(key, record, { size: Math.max(sizeOf(record), 1) });
    this.#purgeLater();
  }

  /** Drops the candidate's record, and keeps none of it for a minute. */
  avoid(accountId: string, id: string): void {
    this.#records.set(`${accountId} ${id}`, MARK, { size: MARK_BYTES });
    this.#purgeLater();
  }

  /** The cache ignores what is too old, but keeps it in memory until it is told to remove it. */
  #purgeLater(): void {
    if (this.#purging) return;
    this.#purging = true;
    const purge = (): void => {
      this.#purging = false;
      this.#records.purgeStale();
      if (this.#records.size > 0) this.#purgeLater();
    };
    setTimeout(purge, this.#usedMs).unref();
  }
}
