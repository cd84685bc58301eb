import type { AuditRecord } from "../audit/entry.ts";
import type { Erasure } from "../candidates/record.ts";
import { BoundedCollection } from "../infra/bounded-collection.ts";
import type { Mongo } from "../infra/mongo.ts";
import { patiently } from "./command.ts";

interface Owned {
  _id: string;
  account: string;
  change: string;
  state: string;
  erasure?: Erasure;
}

/** Where an account has something besides its candidates, by how it is found there. */
const BY_ID = ["assistant_settings", "outreach_accounts", "quiet_hours_settings", "retention_settings"];
const BY_PREFIX = ["mail_account_days", "mail_addresses", "opt_outs", "webhooks"];
const BY_ACCOUNT = ["grants", "history", "idempotency_records", "keys", "links", "messages", "secrets", "usage"];

const PAGE = 1_000;
const candidatesIn = (mongo: Mongo) => new BoundedCollection<Owned>(mongo, "candidates");

/** Removes what an account has besides its candidates. */
export async function removeBelongings(mongo: Mongo, account: string): Promise<void> {
  const remove = (name: string, filter: object) =>
    new BoundedCollection<Owned>(mongo, name).deleteInBatches(filter, new AbortController().signal);
  for (const name of BY_ID) await remove(name, { _id: account });
  for (const name of BY_PREFIX) await remove(name, { _id: { $gte: `${account}/`, $lt: `${account}0` } }); // 0 follows /
  for (const name of BY_ACCOUNT) await remove(name, { account });
}

/** Counts an account's candidates that are not erased. */
export async function countCandidates(mongo: Mongo, account: string): Promise<number> {
  const pipeline = [{ $match: { account, state: { $ne: "deleted" } } }, { $count: "count" }];
  return (await candidatesIn(mongo).aggregate<{ count: number }>(pipeline))[0]?.count ?? 0;
}

/** Yields the ids of an account's candidates whose erasures are not finished. One that is changed meanwhile may come twice. */
export async function* candidatesOf(mongo: Mongo, account: string): AsyncGenerator<string> {
  const options = { sort: { change: 1 }, limit: PAGE, projection: { change: 1, state: 1, erasure: 1 } } as const;
  for (let after: string | undefined = ""; after !== undefined;) {
    const following = { account, change: { $gt: after } };
    const page: Owned[] = await patiently(() => candidatesIn(mongo).find(following, options));
    for (const { _id, state, erasure } of page) if (state !== "deleted" || erasure !== undefined) yield _id;
    after = page.at(-1)?.change;
  }
}

export type DeletionEntry = Pick<AuditRecord, "action" | "account" | "subject" | "at" | "details">;

/** Returns the entries that the audit will have once their erasures are finished, oldest first. */
export async function pendingDeletions(mongo: Mongo): Promise<DeletionEntry[]> {
  const unfinished = { "erasure.at": { $gt: "" } };
  const found = await candidatesIn(mongo).find(unfinished, { projection: { account: 1, erasure: 1 } });
  const all = found.flatMap(({ _id: candidate, account, erasure }) =>
    (erasure?.deletions ?? []).map(({ kind, id, at }) => {
      return { action: `${kind} delete`, account, subject: id, at, details: { candidate } };
    }),
  );
  return all.toSorted((one, other) => (one.at < other.at ? -1 : 1));
}
