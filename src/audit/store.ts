import { BoundedCollection } from "../infra/bounded-collection.ts";
import { equals } from "../infra/equals.ts";
import type { Indexed } from "../infra/indexes.ts";
import type { Mongo } from "../infra/mongo.ts";

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

/** The end of a change. Its id is that of the record, so a record has at most one outcome. */
export interface AuditOutcome {
  readonly _id: string;
  readonly at: string;
  readonly outcome: "done" | "failed";
  /** The detail of the problem. Null if it succeeded. */
  readonly reason: string | null;
}

/**
 * The audit trail in MongoDB, append-only: a record before the change, its outcome after. Every method may throw problem
 * `store_unavailable`.
 */
export class AuditStore implements Indexed {
  readonly indexes = [{ collection: "audit", indexes: [{ key: { account: 1, at: 1 } }, { key: { at: 1 } }] }];
  readonly #records: BoundedCollection<AuditRecord>;
  readonly #outcomes: BoundedCollection<AuditOutcome>;

  constructor(mongo: Mongo) {
    this.#records = new BoundedCollection(mongo, "audit");
    this.#outcomes = new BoundedCollection(mongo, "audit_outcomes");
  }

  async begin(record: AuditRecord): Promise<void> {
    await this.#records.insertOne(record);
  }

  /** Writes the record of a finished change with its outcome. Writes each id only once. */
  async done(record: AuditRecord): Promise<void> {
    await this.#records.insertIfAbsent(record);
    await this.end({ _id: record._id, at: record.at, outcome: "done", reason: null });
  }

  /** Writes the outcome of a change. If the record already has an outcome, that one stays. */
  async end(outcome: AuditOutcome): Promise<void> {
    await this.#outcomes.insertIfAbsent(outcome);
  }

  /** Yields records, oldest first. */
  async *entries({ since = "" }: { since?: string } = {}): AsyncGenerator<AuditRecord> {
    yield* await this.#records.find({ at: { $gte: since } }, { sort: { at: 1 } });
  }

  /** Returns records, newest first. One without an outcome is running or was interrupted. */
  async newest(limit: number, accountId?: string) {
    const filter = accountId === undefined ? {} : { account: equals(accountId) };
    const records = await this.#records.find(filter, { sort: { at: -1 }, limit });
    const outcomes = await this.#outcomes.find({ _id: { $in: records.map(({ _id }) => _id) } });
    const byId = new Map(outcomes.map((outcome) => [outcome._id, outcome]));
    return records.map((record) => ({ record, outcome: byId.get(record._id) }));
  }
}
