import { BoundedCollection } from "../infra/bounded-collection.ts";
import type { Clock } from "../infra/clock.ts";
import type { Mongo } from "../infra/mongo.ts";

/** An exclusive right of one process, until it is released or expires. */
export interface Lease {
  readonly name: string;
  /** Increases by one each time the lease is taken. */
  readonly term: number;
}

interface Stored {
  _id: string;
  term: number;
  /** Milliseconds since the epoch. */
  until: number;
  /** Names the process, for people who inspect the database. */
  holder: string;
}

export interface LeaseStoreOptions {
  mongo: Mongo;
  clock: Clock;
  /** Names this process. */
  holder: string;
  /** Maximum clock skew between replicas, in milliseconds. Leases are honoured this long past their expiry. */
  skewMs: number;
}

/** Leases by name, in MongoDB. Each change is one compare-and-set on the term. Every method throws store_unavailable. */
export class LeaseStore {
  readonly #options: LeaseStoreOptions;
  readonly #leases: BoundedCollection<Stored>;
  /** The leases of others, and the time of `performance.now()` since when they have been the same. */
  readonly #seen = new Map<string, { readonly held: Stored; readonly since: number }>();

  constructor(options: LeaseStoreOptions) {
    this.#options = options;
    this.#leases = new BoundedCollection(options.mongo, "leases");
  }

  /**
   * Takes the lease for this long. Undefined if another process has it. One round trip; two if the lease was free.
   * @param maximumMs maximum time for which the lease is ever taken or extended, in milliseconds. A lease that nobody has
   * changed for that long is free, even if its end lies in the future: the clock was ahead when it was taken.
   */
  async take(name: string, durationMs: number, maximumMs = durationMs): Promise<Lease | undefined> {
    const { clock, skewMs, holder } = this.#options;
    const held = await this.#leases.findOne({ _id: name });
    const now = clock.now();
    if (held !== null && now < held.until + skewMs && this.#sameFor(held) < maximumMs) return undefined;
    const next: Stored = { _id: name, term: (held?.term ?? 0) + 1, until: now + durationMs, holder };
    // A holder that has just extended its lease keeps it.
    const taken = await (held === null
      ? this.#leases.insertIfAbsent(next)
      : this.#leases.replaceOne({ _id: name, term: held.term, until: held.until }, next));
    return taken ? { name, term: next.term } : undefined;
  }

  /** Returns the time for which this process has seen the lease unchanged, in milliseconds of its monotonic timer. */
  #sameFor(held: Stored): number {
    const now = performance.now();
    const seen = this.#seen.get(held._id);
    if (seen?.held.term === held.term && seen.held.until === held.until) return now - seen.since;
    this.#seen.set(held._id, { held, since: now });
    return 0;
  }

  /** Makes the lease last this long from now. Returns false if it was taken over. One round trip. */
  async extend({ name, term }: Lease, durationMs: number): Promise<boolean> {
    const { clock, holder } = this.#options;
    return this.#leases.replaceOne({ _id: name, term }, { term, until: clock.now() + durationMs, holder });
  }
}
