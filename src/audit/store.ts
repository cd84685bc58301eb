import type { Collection } from "mongodb";
import { equals } from "../infra/equals.ts";
import type { Indexed } from "../infra/indexes.ts";
import { isDuplicateKey, type Mongo } from "../infra/mongo.ts";

/** Details of a change, beyond what it changed. Never a secret or a hash of one. */
export type AuditDetails = Readonly<Record<string, string | number | boolean | null>>;

/** A change that is about to be made. `at` is a timestamp; `subject` is the id of what is changed. */
export interface AuditRecord {
  readonly _id: string;
  readonly at: string;
  readonly actor: string;
  readonly action: string;
  readonly account: string;
  readonly subject: string;
  readonly details: AuditDetails;
}

/** How a change ended. Its id is that of the record, so a record has at most one outcome. */
export interface AuditOutcome {
  readonly _id: string;
  readonly at: string;
  readonly outcome: "done" | "failed";
  /** Why it failed: the detail of the problem. Null if it succeeded. */
  readonly reason: string | null;
}

/**
 * The audit trail in MongoDB, append-only: a record before the change, its outcome after. Every method may throw problem
 * `store_unavailable`.
 */
export class AuditStore implements Indexed {
  readonly indexes = [{ collection: "audit", indexes: [{ key: { account: 1, at: 1 } }, { key: { at: 1 } }] }];
  readonly #mongo: Mongo;
  readonly #records: Collection<AuditRecord>;
  readonly #outcomes: Collection<AuditOutcome>;

  constructor(mongo: Mongo) {
    this.#mongo = mongo;
    this.#records = mongo.db.collection("audit");
    this.#outcomes = mongo.db.collection("audit_outcomes");
  }

  /** Writes the record of a change. One round trip. */
  async begin(record: AuditRecord): Promise<void> {
    await this.#mongo.bounded("insert audit", (limits) => this.#records.insertOne(record, limits));
  }

  /** Writes the record of a finished change with its outcome. Writes each id only once. Two round trips. */
  async done(record: AuditRecord): Promise<void> {
    try {
      await this.begin(record);
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
    await this.end({ _id: record._id, at: record.at, outcome: "done", reason: null });
  }

  /** Writes the outcome of a change. If the record already has an outcome, that one stays. One round trip. */
  async end(outcome: AuditOutcome): Promise<void> {
    try {
      await this.#mongo.bounded("insert audit_outcomes", (limits) => this.#outcomes.insertOne(outcome, limits));
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
  }

  /** Returns records, newest first. One without an outcome is running or was interrupted. Two round trips. */
  async newest(
    limit: number,
    accountId?: string,
  ): Promise<{ record: AuditRecord; outcome: AuditOutcome | undefined }[]> {
    return this.#mongo.bounded("find audit", async (limits) => {
      const filter = accountId === undefined ? {} : { account: equals(accountId) };
      const records = await this.#records.find(filter, limits).sort({ at: -1 }).limit(limit).toArray();
      const ids = records.map(({ _id }) => _id);
      const outcomes = await this.#outcomes.find({ _id: { $in: ids } }, limits).toArray();
      const byId = new Map(outcomes.map((outcome) => [outcome._id, outcome]));
      return records.map((record) => ({ record, outcome: byId.get(record._id) }));
    });
  }
}
