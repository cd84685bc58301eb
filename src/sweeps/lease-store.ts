import type { Collection } from "mongodb";
import type { Clock } from "../infra/clock.ts";
import { isDuplicateKey, type Limits, type Mongo } from "../infra/mongo.ts";

/** An exclusive right of one process, until it is released or expires. */
export interface Lease {
  readonly name: string;
  /** Increases by one each time the lease is taken. */
  readonly term: number;
}

/** Times are milliseconds since the epoch. */
interface Stored {
  _id: string;
  term: number;
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

/**
 * Leases by name, in MongoDB. Each change is one compare-and-set on the term. Every method throws problem
 * store_unavailable.
 */
export class LeaseStore {
  readonly #options: LeaseStoreOptions;
  readonly #leases: Collection<Stored>;

  constructor(options: LeaseStoreOptions) {
    this.#options = options;
    this.#leases = options.mongo.db.collection("leases");
  }

  /** Takes the lease for this long. Undefined if another process has it. One round trip; two if the lease was free. */
  async take(name: string, durationMs: number): Promise<Lease | undefined> {
    const held = await this.#options.mongo.bounded("find leases", (limits) =>
      this.#leases.findOne({ _id: name }, limits),
    );
    const now = this.#options.clock.now();
    if (held !== null && now < held.until + this.#options.skewMs) return undefined;
    const next: Stored = {
      _id: name,
      term: (held?.term ?? 0) + 1,
      until: now + durationMs,
      holder: this.#options.holder,
    };
    const taken = held === null ? await this.#insert(next) : await this.#replace(held, next);
    return taken ? { name, term: next.term } : undefined;
  }

  /** Makes the lease last this long from now. Returns false if it was taken over. One round trip. */
  async extend({ name, term }: Lease, durationMs: number): Promise<boolean> {
    return this.#replace(
      { term },
      { _id: name, term, until: this.#options.clock.now() + durationMs, holder: this.#options.holder },
    );
  }

  async #insert(next: Stored): Promise<boolean> {
    try {
      await this.#options.mongo.bounded("insert leases", (limits) => this.#leases.insertOne(next, limits));
      return true;
    } catch (error) {
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  }

  /** Replaces a held lease. `take` also compares `until`: a holder that has just extended its lease keeps it. */
  async #replace({ term, until }: { term: number; until?: number }, next: Stored): Promise<boolean> {
    const held = { _id: next._id, term, ...(until === undefined ? {} : { until }) };
    const replaced = (limits: Limits) => this.#leases.replaceOne(held, next, limits);
    return (await this.#options.mongo.bounded("update leases", replaced)).matchedCount === 1;
  }
}
