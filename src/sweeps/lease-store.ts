import type { Collection } from "mongodb";
import type { Clock } from "../infra/clock.ts";
import { isDuplicateKey, type Mongo, within } from "../infra/mongo.ts";

/** A right that one process has at a time, until it lets it go or its time is up. */
export interface Lease {
  readonly name: string;
  /** Counts the holders: whoever takes it over has the next one. */
  readonly term: number;
}

/** Times are milliseconds since the epoch. */
interface Stored {
  _id: string;
  term: number;
  until: number;
  /** For the person who looks. */
  holder: string;
}

export interface LeaseStoreOptions {
  mongo: Mongo;
  clock: Clock;
  /** Names this process. */
  holder: string;
  /** How far apart two replicas' clocks may be, in milliseconds: so much longer than said is a lease respected. */
  skewMs: number;
}

/** Leases by name, in MongoDB: each step is one compare-and-set on the term. Every method throws problem store_unavailable. */
export class LeaseStore {
  readonly #mongo: Mongo;
  readonly #clock: Clock;
  readonly #holder: string;
  readonly #skewMs: number;
  readonly #leases: Collection<Stored>;

  constructor({ mongo, clock, holder, skewMs }: LeaseStoreOptions) {
    this.#mongo = mongo;
    this.#clock = clock;
    this.#holder = holder;
    this.#skewMs = skewMs;
    this.#leases = mongo.db.collection("leases");
  }

  /** The lease for so long from now, or undefined where it is somebody's. One round trip, two where it is had. */
  async take(name: string, forMs: number): Promise<Lease | undefined> {
    const held = await this.#mongo.bounded((signal) => this.#leases.findOne({ _id: name }, { signal }));
    const now = this.#clock.now();
    if (held !== null && now < held.until + this.#skewMs) return undefined;
    const mine: Stored = { _id: name, term: (held?.term ?? 0) + 1, until: now + forMs, holder: this.#holder };
    const taken = held === null ? await this.#insert(mine) : await this.#replace(held, mine);
    return taken ? { name, term: mine.term } : undefined;
  }

  /** Makes it last so long from now. False where it has been taken over. One round trip. */
  async extend({ name, term }: Lease, forMs: number): Promise<boolean> {
    return this.#replace({ term }, { _id: name, term, until: this.#clock.now() + forMs, holder: this.#holder });
  }

  async #insert(mine: Stored): Promise<boolean> {
    try {
      await this.#mongo.bounded((signal) => this.#leases.insertOne(mine, within(signal)));
      return true;
    } catch (error) {
      if (isDuplicateKey(error)) return false;
      throw error;
    }
  }

  /** Taking over asks for `until` as well: a holder that has just extended its term keeps it. */
  async #replace({ term, until }: { term: number; until?: number }, mine: Stored): Promise<boolean> {
    const held = { _id: mine._id, term, ...(until === undefined ? {} : { until }) };
    const replaced = (signal: AbortSignal) => this.#leases.replaceOne(held, mine, within(signal));
    return (await this.#mongo.bounded(replaced)).matchedCount === 1;
  }
}
