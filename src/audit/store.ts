import type { Collection } from "mongodb";
import { isDuplicateKey, type Mongo, within } from "../infra/mongo.ts";

/** What may be said of a change beside what it changed. Never a secret, nor a hash of one. */
export type AuditDetails = Readonly<Record<string, string | number | boolean | null>>;

/** A change about to be made. `at` is a timestamp; `subject` is what is changed, by its id. */
export interface AuditRecord {
  readonly _id: string;
  readonly at: string;
  readonly actor: string;
  readonly action: string;
  readonly account: string;
  readonly subject: string;
  readonly details: AuditDetails;
}

/** How a change ended, under its record's id: at most one. */
export interface AuditOutcome {
  readonly _id: string;
  readonly at: string;
  readonly outcome: "done" | "failed";
  /** Why it failed, as its problem says. */
  readonly reason: string | null;
}

/** The audit in MongoDB. It only ever adds: a record before the change, its outcome after. Every method throws problem store_unavailable. */
export class AuditStore {
  readonly #mongo: Mongo;
  readonly #records: Collection<AuditRecord>;
  readonly #outcomes: Collection<AuditOutcome>;

  constructor(mongo: Mongo) {
    this.#mongo = mongo;
    this.#records = mongo.db.collection("audit");
    this.#outcomes = mongo.db.collection("audit_outcomes");
  }

  /** Makes the indexes; harmless where they are already. */
  async prepare(): Promise<void> {
    await this.#records.createIndex({ account: 1, at: 1 });
    await this.#records.createIndex({ at: 1 });
  }

  /** One round trip. */
  async begin(record: AuditRecord): Promise<void> {
    await this.#mongo.bounded((signal) => this.#records.insertOne(record, within(signal)));
  }

  /** One round trip. The first outcome of a record stays. */
  async end(outcome: AuditOutcome): Promise<void> {
    try {
      await this.#mongo.bounded((signal) => this.#outcomes.insertOne(outcome, within(signal)));
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
  }

  /** Records with their outcomes, newest first; those without one were cut off, or are under way. Two round trips. */
  async newest(limit: number, account?: string): Promise<{ record: AuditRecord; outcome: AuditOutcome | undefined }[]> {
    return this.#mongo.bounded(async (signal) => {
      const filter = account === undefined ? {} : { account };
      const records = await this.#records.find(filter, { signal }).sort({ at: -1 }).limit(limit).toArray();
      const ids = records.map(({ _id }) => _id);
      const outcomes = await this.#outcomes.find({ _id: { $in: ids } }, { signal }).toArray();
      const byId = new Map(outcomes.map((outcome) => [outcome._id, outcome]));
      return records.map((record) => ({ record, outcome: byId.get(record._id) }));
    });
  }
}
