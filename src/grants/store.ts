import type { Collection } from "mongodb";
import { isDuplicateKey, type Mongo, within } from "../infra/mongo.ts";
import { problem } from "../problems.ts";

/** A grant as it was approved. Redis knows what is left of it (GrantCounters). */
export interface GrantRecord {
  readonly _id: string;
  readonly account: string;
  readonly key: string;
  readonly surface: "create";
  /** Requests. */
  readonly amount: number;
  /** As it was asked for: `expires_at` follows from it and from when it was made. */
  readonly expires_in_hours: number;
  readonly expires_at: string;
  readonly approved_by: string;
  readonly reason: string;
  readonly created_at: string;
  readonly revoked_at: string | null;
  /**
   * How far its issue has come: `recorded` here; `placed` in Redis, empty; `issued`, there in full. Only what was placed is
   * filled, and a place that is gone is never made again: so data that Redis lost cannot make a grant be given twice.
   */
  readonly step: "recorded" | "placed" | "issued";
}

/** The grants' records in MongoDB. Every method throws problem store_unavailable. */
export class GrantStore {
  readonly #mongo: Mongo;
  readonly #grants: Collection<GrantRecord>;

  constructor(mongo: Mongo) {
    this.#mongo = mongo;
    this.#grants = mongo.db.collection("grants");
  }

  /** Makes the index; harmless where it is already. */
  async prepare(): Promise<void> {
    await this.#grants.createIndex({ account: 1, created_at: 1 });
  }

  /** Keeps a new grant, unless its id is taken: gives the one that has it. One round trip, two where it is taken. */
  async insert(record: GrantRecord): Promise<GrantRecord> {
    try {
      await this.#mongo.bounded((signal) => this.#grants.insertOne(record, within(signal)));
      return record;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      return this.get(record._id);
    }
  }

  /** One round trip. */
  async find(id: string): Promise<GrantRecord | null> {
    return this.#mongo.bounded((signal) => this.#grants.findOne({ _id: id }, { signal }));
  }

  /** One round trip. @throws problem `not_found` */
  async get(id: string): Promise<GrantRecord> {
    const record = await this.find(id);
    if (record === null) throw problem("not_found", `No grant has the id ${id}.`);
    return record;
  }

  /** The grants of an account, oldest first. One round trip. */
  async list(account: string): Promise<GrantRecord[]> {
    return this.#mongo.bounded((signal) =>
      this.#grants.find({ account }, { signal }).sort({ created_at: 1 }).toArray(),
    );
  }

  /** Takes a grant one step on, unless it was revoked or another has done so: gives it as it then is. Two round trips. */
  async advance(id: string, from: GrantRecord["step"], to: GrantRecord["step"]): Promise<GrantRecord> {
    await this.#mongo.bounded((signal) =>
      this.#grants.updateOne({ _id: id, step: from, revoked_at: null }, { $set: { step: to } }, within(signal)),
    );
    return this.get(id);
  }

  /** Revokes a grant; the first time it was stays. Two round trips. @throws problem `not_found` */
  async revoke(id: string, now: string): Promise<GrantRecord> {
    await this.#mongo.bounded((signal) =>
      this.#grants.updateOne({ _id: id, revoked_at: null }, { $set: { revoked_at: now } }, within(signal)),
    );
    return this.get(id);
  }
}
