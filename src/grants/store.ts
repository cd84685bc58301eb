import { BoundedCollection, equals } from "../infra/bounded-collection.ts";
import type { Indexed } from "../infra/indexes.ts";
import type { Mongo } from "../infra/mongo.ts";
import type { Surface } from "../limiter/surfaces.ts";
import { problem } from "../problems.ts";

/** A grant as it was approved. Redis counts how much of it remains (GrantCounters). */
export interface GrantRecord {
  readonly _id: string;
  readonly account: string;
  readonly key: string;
  readonly surface: Surface;
  /** Requests. */
  readonly amount: number;
  /** As the operator gave it. `expires_at` is computed from it when the grant is created. */
  readonly expires_in_hours: number;
  readonly expires_at: string;
  readonly approved_by: string;
  readonly reason: string;
  readonly created_at: string;
  readonly revoked_at: string | null;
  /**
   * `recorded` in MongoDB, then `placed` empty in Redis, then `issued`: filled in Redis. Only a placed grant is filled, and
   * one that has vanished from Redis is never placed again. So a loss of data in Redis cannot issue a grant twice.
   */
  readonly step: "recorded" | "placed" | "issued";
}

const MAX_EXPIRING = 1_000;

/** The records of the grants in MongoDB. Every method may throw problem `store_unavailable`, and takes one or two round trips. */
export class GrantStore implements Indexed {
  readonly indexes = [
    { collection: "grants", indexes: [{ key: { account: 1, created_at: 1 } }, { key: { expires_at: 1 } }] },
  ];
  readonly #grants: BoundedCollection<GrantRecord>;

  constructor(mongo: Mongo) {
    this.#grants = new BoundedCollection(mongo, "grants");
  }

  /** Inserts a grant. If the id is taken, returns the grant that has it. */
  async insert(record: GrantRecord): Promise<GrantRecord> {
    return (await this.#grants.insertIfAbsent(record)) ? record : this.get(record._id);
  }

  async find(id: string): Promise<GrantRecord | null> {
    return this.#grants.findOne({ _id: id });
  }

  /** @throws problem `not_found` */
  async get(id: string): Promise<GrantRecord> {
    const record = await this.find(id);
    if (record === null) throw problem("not_found", `No grant has the id ${id}.`);
    return record;
  }

  /** Returns the grants of an account, oldest first. */
  async list(accountId: string): Promise<GrantRecord[]> {
    return this.#grants.find({ account: equals(accountId) }, { sort: { created_at: 1 } });
  }

  /** Returns the grants of all accounts that are not revoked and expire in that time, the next one first. */
  async expiring(after: string, until: string): Promise<GrantRecord[]> {
    const filter = { expires_at: { $gt: after, $lte: until }, revoked_at: null };
    return this.#grants.find(filter, { sort: { expires_at: 1 }, limit: MAX_EXPIRING });
  }

  /** Advances a grant by one step, unless it was revoked or advanced already. Returns the stored grant. */
  async advance(id: string, from: GrantRecord["step"], to: GrantRecord["step"]): Promise<GrantRecord> {
    await this.#grants.updateOne({ _id: id, step: from, revoked_at: null }, { $set: { step: to } });
    return this.get(id);
  }

  /** Revokes a grant. If it is revoked already, the time of that stays. @throws problem `not_found` */
  async revoke(id: string, now: string): Promise<GrantRecord> {
    await this.#grants.updateOne({ _id: id, revoked_at: null }, { $set: { revoked_at: now } });
    return this.get(id);
  }
}
