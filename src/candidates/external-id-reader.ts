import { BoundedCollection, equals } from "../infra/bounded-collection.ts";
import type { Mongo } from "../infra/mongo.ts";
import { problem } from "../problems.ts";
import type { Draft } from "./record.ts";
import type { Stored } from "./stored.ts";

/** Looks candidates up by their external_ids. Every method is one round trip, and may throw problem store_unavailable. */
export class ExternalIds {
  readonly #candidates: BoundedCollection<Stored>;

  constructor(mongo: Mongo) {
    this.#candidates = new BoundedCollection(mongo, "candidates");
  }

  /** Returns the id of the candidate that has this external_id. */
  async holderOf(accountId: string, external_id: string): Promise<string | undefined> {
    const filter = { account: equals(accountId), external_id: equals(external_id) };
    return (await this.#candidates.findOne(filter, { projection: { _id: 1 } }))?._id;
  }

  /** Returns the ids of the candidates that have these external_ids, by external_id. */
  async holdersOf(accountId: string, externalIds: readonly string[]): Promise<ReadonlyMap<unknown, string>> {
    if (externalIds.length === 0) return new Map();
    // MongoDB uses the partial index: each text is above the empty one.
    const filter = { account: equals(accountId), external_id: { $in: [...externalIds] } };
    const found = await this.#candidates.find(filter, { projection: { external_id: 1 } });
    return new Map(found.map(({ _id, external_id }) => [external_id, _id]));
  }

  /** @throws problem external_id_taken if another candidate has the external_id. */
  async check({ accountId, id, external_id }: Pick<Draft, "accountId" | "id" | "external_id">) {
    if (external_id === null) return;
    const holder = await this.holderOf(accountId, external_id);
    if (holder === undefined || holder === id) return; // or an interrupted attempt of this request inserted it just now
    const detail = `Candidate ${holder} already has this external_id. Send another one, or change that candidate.`;
    const errors = [{ pointer: "/external_id", detail: "must be unique in the account" }];
    throw problem("external_id_taken", detail, { members: { candidate_id: holder }, errors });
  }
}
