import type { Collection, Filter } from "mongodb";
import type { Mongo } from "../infra/mongo.ts";
import type { CandidateKey } from "./reader.ts";
import type { Stored } from "./stored.ts";

/** Finds the candidates whose chase has something to do. Every method takes one round trip, and may throw problem store_unavailable. */
export class ChaseStore {
  readonly #mongo: Mongo;
  readonly #candidates: Collection<Stored>;

  constructor(mongo: Mongo) {
    this.#mongo = mongo;
    this.#candidates = mongo.db.collection("candidates");
  }

  /**
   * Finds candidates with something to do at `now`, the longest due first. One index range.
   * @param now RFC 3339.
   * @param others the accounts whose candidates are left out.
   */
  due(now: string, limit: number, others: readonly string[]): Promise<CandidateKey[]> {
    // With both bounds MongoDB uses the partial index.
    const due: Filter<Stored> = { "outreach.look_at": { $gt: "", $lte: now } };
    const wanted = others.length === 0 ? due : { ...due, account: { $nin: [...others] } };
    return this.#find(wanted, { "outreach.look_at": 1 }, limit);
  }

  /**
   * Finds candidates of an account whose plan depends on its settings, and was made by other rules than these. One index
   * range.
   */
  plannedOtherwise(accountId: string, rules: string, limit: number): Promise<CandidateKey[]> {
    const open: Filter<Stored> = {
      account: accountId,
      "outreach.look_at": { $gt: "" },
      "outreach.rules": { $ne: rules },
    };
    return this.#find(open, { "outreach.rules": 1 }, limit);
  }

  /** Notes that a plan would be the same by these rules. Not a new version: the API shows nothing else. */
  async noteRules({ accountId, id }: CandidateKey, version: number, rules: string): Promise<void> {
    await this.#mongo.bounded("update candidates", (limits) =>
      this.#candidates.updateOne(
        { _id: id, account: accountId, version },
        { $set: { "outreach.rules": rules } },
        limits,
      ),
    );
  }

  /** Returns the account of a candidate; undefined if there is no such candidate. For operators, who have only its id. */
  async accountOf(id: string): Promise<string | undefined> {
    const found = await this.#mongo.bounded("find candidates", (limits) =>
      this.#candidates.findOne({ _id: id }, { ...limits, projection: { account: 1 } }),
    );
    return found?.account;
  }

  async #find(filter: Filter<Stored>, sort: Record<string, 1>, limit: number): Promise<CandidateKey[]> {
    const found = await this.#mongo.bounded("find candidates", (limits) =>
      this.#candidates
        .find(filter, { ...limits, sort, limit, batchSize: limit + 1, projection: { account: 1 } })
        .toArray(),
    );
    return found.map(({ _id, account }) => ({ accountId: account, id: _id }));
  }
}
