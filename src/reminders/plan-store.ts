import type { Filter } from "mongodb";
import type { CandidateKey } from "../candidates/record.ts";
import { keyOf, type Stored } from "../candidates/stored.ts";
import { BoundedCollection } from "../infra/bounded-collection.ts";
import type { Mongo } from "../infra/mongo.ts";

/** Number of candidates that are read at once with their references: up to 10 MB. */
const PAGE = 10;

/** Finds the candidates with something to do. Every method may throw problem store_unavailable. */
export class PlanStore {
  readonly #candidates: BoundedCollection<Stored>;

  constructor(mongo: Mongo) {
    this.#candidates = new BoundedCollection(mongo, "candidates");
  }

  /** Returns candidates with something to do, the longest due first. @param now RFC 3339. @param others the accounts to leave out. */
  async due(now: string, limit: number, others: readonly string[]): Promise<CandidateKey[]> {
    // No upper bound: the order has what is due first, and the stand-in for MongoDB reads everything if there is one.
    const planned: Filter<Stored> = { "outreach.look_at": { $gt: "" }, account: { $nin: [...others] } };
    const sort = { "outreach.look_at": 1 } as const;
    const options = { sort, limit, projection: { account: 1, "outreach.look_at": 1 } };
    const found = await this.#candidates.find(planned, options);
    return found.filter(({ outreach }) => (outreach?.look_at ?? "") <= now).map(keyOf);
  }

  /** Returns candidates of an account whose plan depends on its settings, and was made by other rules than these. */
  async plannedOtherwise(account: string, rules: string, limit: number): Promise<CandidateKey[]> {
    const open: Filter<Stored> = { account, "outreach.look_at": { $gt: "" }, "outreach.rules": { $ne: rules } };
    const sort = { "outreach.rules": 1 } as const;
    return (await this.#candidates.find(open, { sort, limit, projection: { account: 1 } })).map(keyOf);
  }

  /** Notes that a plan would be the same by these rules. Not a new version: the API shows nothing else. */
  async noteRules({ accountId, id }: CandidateKey, version: number, rules: string): Promise<void> {
    const planned = { _id: id, account: accountId, version };
    await this.#candidates.updateOne(planned, { $set: { "outreach.rules": rules } });
  }

  /** Yields the addresses of an account's candidates and their references, in the order of the feed. */
  async *recipients(accountId: string): AsyncGenerator<{ id: string; emails: string[] }> {
    const projection = { change: 1, email: 1, references: 1 } as const;
    // Whatever is damaged in one record must not end the read of all: store.change refuses that record later.
    const options = { sort: { change: 1 }, limit: PAGE, projection, enableUtf8Validation: false } as const;
    for (let after: string | undefined = ""; after !== undefined;) {
      const page: Stored[] = await this.#candidates.find({ account: accountId, change: { $gt: after } }, options);
      for (const { _id: id, email, references } of page) {
        const emails = [email, ...[references ?? []].flat().map((each) => each?.email)];
        yield { id, emails: emails.filter((each) => typeof each === "string") };
      }
      after = page.length < PAGE ? undefined : page.at(-1)?.change;
    }
  }

  /** Returns those of the ids whose candidates are not erased. */
  async kept(ids: readonly string[]): Promise<ReadonlySet<string>> {
    const options = { projection: { deleted: 1 }, limit: ids.length };
    const found = await this.#candidates.find({ _id: { $in: [...ids] } }, options);
    return new Set(found.filter(({ deleted }) => deleted !== true).map(({ _id }) => _id));
  }

  /** Counts the candidates whose next reminder waits for an operator's word after a restore. */
  async waiting(): Promise<number> {
    const waiting = { "outreach.look_at": { $gte: "9999" }, "outreach.reason": "restored" };
    const [found] = await this.#candidates.aggregate<{ count: number }>([{ $match: waiting }, { $count: "count" }]);
    return found?.count ?? 0;
  }

  /** For operators, who have only the candidate's id. */
  async accountOf(id: string): Promise<string | undefined> {
    return (await this.#candidates.findOne({ _id: id }, { projection: { account: 1 } }))?.account;
  }
}
