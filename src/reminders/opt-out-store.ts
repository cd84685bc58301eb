import { type CandidateKey, TO_CANDIDATE } from "../candidates/record.ts";
import { BoundedCollection } from "../infra/bounded-collection.ts";
import type { Mongo } from "../infra/mongo.ts";
import type { AddressHash } from "./address-hash.ts";
import type { StopLink } from "./link-store.ts";

export interface OptOut {
  /** The account and the address's hash. */
  _id: string;
  account: string;
  address: string;
  /** Where the link was that stopped the messages. Null once that candidate was erased. */
  candidate: string | null;
  to: string | null;
  /** RFC 3339. */
  at: string;
  /** When an operator lifted it, RFC 3339. It is removed once no candidate notes it any more. Null while it holds. */
  lifted_at: string | null;
  /** Set until every candidate of the account notes it, or notes it no more. */
  spreading?: true;
}

export type OptOutStore = ReturnType<typeof optOutStore>;

/**
 * The addresses whose owners want no more messages from an account: about none of its candidates, past and future. Every
 * method may throw problem store_unavailable.
 */
export function optOutStore(mongo: Mongo, addresses: AddressHash) {
  const optOuts = new BoundedCollection<OptOut>(mongo, "opt_outs");
  const idOf = (accountId: string, email: string) => `${accountId}/${addresses.of(email)}`;
  const spreading = { key: { spreading: 1 }, partialFilterExpression: { spreading: true } };
  const indexes = [{ key: { account: 1, at: 1 } }, { key: { account: 1, candidate: 1 } }, spreading];
  return {
    indexes: [{ collection: "opt_outs", indexes }],

    /** Adds the address that a link was sent to. The first time counts, unless an operator has lifted it since. */
    add({ accountId: account, id, to, address }: StopLink, at: string) {
      const stored = { account, address, candidate: id ?? null, to: to ?? null, at };
      const update = { $setOnInsert: stored, $set: { spreading: true, lifted_at: null } } as const;
      return optOuts.updateOne({ _id: `${account}/${address}` }, update, { upsert: true });
    },

    /** Returns those of the addresses whose owners have opted out. */
    async among(accountId: string, emails: readonly string[]) {
      if (emails.length === 0) return [];
      const ids = emails.map((email) => idOf(accountId, email));
      const found = await optOuts.find({ _id: { $in: ids }, lifted_at: null }, { limit: ids.length });
      const out = new Set(found.map(({ _id }) => _id));
      return emails.filter((_email, n) => out.has(ids[n]!));
    },

    has: async ({ accountId, address }: StopLink) =>
      (await optOuts.findOne({ _id: `${accountId}/${address}`, lifted_at: null })) !== null,

    /** Lists opt-outs as operators see them, the oldest first. */
    async list(accountId: string) {
      const found = await optOuts.find({ account: accountId, lifted_at: null }, { sort: { at: 1 } });
      return found.map(({ at, candidate, to }) =>
        to === null || to === TO_CANDIDATE ? { at, candidate_id: candidate } : { at, reference_id: to },
      );
    },

    /** Lets the account write to an address again. Returns whether its owner had opted out. */
    lift(accountId: string, email: string, at: string) {
      const lifted = { $set: { lifted_at: at, spreading: true } } as const;
      return optOuts.updateOne({ _id: idOf(accountId, email), lifted_at: null }, lifted);
    },

    /** Returns opt-outs, and ends of opt-outs, that candidates do not note yet. */
    spreading: (limit: number) => optOuts.find({ spreading: true }, { limit }),

    /** Notes that every candidate of the account notes it, unless it was changed since. */
    spread: ({ _id, lifted_at }: OptOut) =>
      lifted_at === null
        ? optOuts.updateOne({ _id, lifted_at }, { $unset: { spreading: "" } })
        : optOuts.deleteOne({ _id, lifted_at: { $gt: "" } }),

    /** Forgets where the opt-outs of an erased candidate came from. They hold for other candidates with the same address. */
    forget: ({ accountId, id }: CandidateKey) =>
      optOuts.updateMany({ account: accountId, candidate: id }, { $set: { candidate: null, to: null } }),
  };
}

/** Marks every opt-out for the sweep, which notes it on its candidates. After a restore they may not have it. */
export function spreadAgain(mongo: Mongo): Promise<void> {
  return new BoundedCollection<OptOut>(mongo, "opt_outs").updateMany({}, { $set: { spreading: true } });
}
