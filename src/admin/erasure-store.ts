import type { Filter } from "mongodb";
import type { Deletion, Erasure } from "../candidates/record.ts";
import { BoundedCollection } from "../infra/bounded-collection.ts";
import type { Mongo } from "../infra/mongo.ts";
import { patiently } from "./command.ts";

interface Owned {
  _id: string;
  account: string;
}

interface Candidate extends Owned {
  change: string;
  state: string;
  erasure?: Erasure;
}

const byId = (_id: string): Filter<Owned> => ({ _id });
const byAccount = (account: string): Filter<Owned> => ({ account });
const byPrefix = (account: string): Filter<Owned> => ({ _id: { $gte: `${account}/`, $lt: `${account}0` } }); // 0 follows /

/** What an account has besides its candidates, and how it is found there. `keys` and `secrets` are read as a whole. */
const BELONGINGS = {
  assistant_settings: byId,
  grants: byAccount,
  idempotency_records: byAccount,
  keys: byAccount,
  links: byAccount,
  mail_account_days: byPrefix,
  mail_addresses: byPrefix,
  messages: byAccount,
  opt_outs: byPrefix,
  outreach_accounts: byId,
  quiet_hours_settings: byId,
  secrets: byAccount,
  usage: byAccount,
};

const PAGE = 1_000;
const ERASED = "deleted";

/** Removes what an erased account has besides its candidates. Can be repeated. @throws problem store_unavailable */
export async function removeBelongings(mongo: Mongo, account: string): Promise<void> {
  const { signal } = new AbortController();
  for (const [name, filterOf] of Object.entries(BELONGINGS))
    await new BoundedCollection<Owned>(mongo, name).deleteInBatches(filterOf(account), signal);
}

/** Counts an account's candidates that are not erased. @throws problem store_unavailable */
export async function countCandidates(mongo: Mongo, account: string): Promise<number> {
  const candidates = new BoundedCollection<Candidate>(mongo, "candidates");
  const pipeline = [{ $match: { account, state: { $ne: ERASED } } }, { $count: "count" }];
  const [found] = await patiently(() => candidates.aggregate<{ count: number }>(pipeline));
  return found?.count ?? 0;
}

/** Yields the ids of an account's candidates that are not erased, in pages. @throws problem store_unavailable */
export async function* candidatesOf(mongo: Mongo, account: string): AsyncGenerator<string[]> {
  const candidates = new BoundedCollection<Candidate>(mongo, "candidates");
  const options = { sort: { change: 1 }, limit: PAGE, projection: { change: 1, state: 1 } } as const;
  for (let after: string | undefined = ""; after !== undefined;) {
    const following = { account, change: { $gt: after } };
    const page: Candidate[] = await patiently(() => candidates.find(following, options));
    yield page.filter(({ state }) => state !== ERASED).map(({ _id }) => _id);
    after = page.at(-1)?.change;
  }
}

/** Returns the deletions of erasures that are not finished: the audit does not have them yet. Oldest first. */
export async function pendingDeletions(mongo: Mongo, since: string) {
  const candidates = new BoundedCollection<Candidate>(mongo, "candidates");
  const found = await candidates.find({ "erasure.at": { $gte: since } }, { projection: { account: 1, erasure: 1 } });
  const all = found.flatMap(({ _id: candidate, account, erasure }) =>
    (erasure?.deletions ?? []).map((deletion: Deletion) => ({ account, candidate, ...deletion })),
  );
  return all.filter(({ at }) => at >= since).toSorted((one, other) => (one.at < other.at ? -1 : 1));
}
