import type { CollectionIndexes } from "../infra/indexes.ts";

/** The indexes of the collection of candidates. */
export const CANDIDATE_INDEXES: CollectionIndexes = {
  collection: "candidates",
  indexes: [
    { key: { account: 1, change: 1 } },
    { key: { account: 1, state: 1, change: 1 } },
    { key: { account: 1, words: 1, created_at: 1 } },
    { key: { account: 1, external_id: 1 }, unique: true, partialFilterExpression: { external_id: { $gt: "" } } },
    // The only indexes that do not begin with the account: the sweeps cover all accounts.
    { key: { words_form: 1 } },
    { key: { next_expiry: 1 }, partialFilterExpression: { next_expiry: { $gt: "" } } },
    { key: { "erasure.at": 1 }, partialFilterExpression: { "erasure.at": { $gt: "" } } },
    { key: { "retention.erases_at": 1 }, partialFilterExpression: { "retention.erases_at": { $gt: "" } } },
    { key: { "outreach.look_at": 1, account: 1 }, partialFilterExpression: { "outreach.look_at": { $gt: "" } } },
    { key: { account: 1, "outreach.rules": 1 }, partialFilterExpression: { "outreach.look_at": { $gt: "" } } },
  ],
};
