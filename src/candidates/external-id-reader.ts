import { BoundedCollection } from "../infra/bounded-collection.ts";
import { equals } from "../infra/equals.ts";
import type { Mongo } from "../infra/mongo.ts";
import { problem } from "../problems.ts";
import type { Draft } from "./record.ts";
import type { Stored } from "./stored.ts";

export type ExternalIds = ReturnType<typeof externalIdsIn>;

/** Looks candidates up by their external_ids. Every function is one round trip, and may throw problem store_unavailable. */
export function externalIdsIn(mongo: Mongo) {
  const candidates = new BoundedCollection<Stored>(mongo, "candidates");

  /** Returns the id of the candidate that has this external_id. */
  async function holderOf(accountId: string, external_id: string): Promise<string | undefined> {
    return (await holdersOf(accountId, [external_id])).get(external_id);
  }

  /** Returns the ids of the candidates that have these external_ids, by external_id. */
  async function holdersOf(accountId: string, externalIds: readonly string[]): Promise<ReadonlyMap<unknown, string>> {
    if (externalIds.length === 0) return new Map();
    // MongoDB uses the partial index: each text is above the empty one.
    const filter = { account: equals(accountId), external_id: { $in: [...externalIds] } };
    const found = await candidates.find(filter, { projection: { external_id: 1 } });
    return new Map(found.map(({ _id, external_id }) => [external_id, _id]));
  }

  /** @throws problem external_id_taken if another candidate has the external_id. */
  async function check({ accountId, id, external_id }: Pick<Draft, "accountId" | "id" | "external_id">) {
    if (external_id === null) return;
    const holder = await holderOf(accountId, external_id);
    if (holder === undefined || holder === id) return; // or an interrupted attempt of this request inserted it just now
    const detail = `Candidate ${holder} already has this external_id. Send another one, or change that candidate.`;
    const errors = [{ pointer: "/external_id", detail: "must be unique in the account" }];
    throw problem("external_id_taken", detail, { members: { candidate_id: holder }, errors });
  }

  return { holderOf, holdersOf, check };
}
