import { type CandidateKey, TO_CANDIDATE } from "../candidates/record.ts";
import { BoundedCollection } from "../infra/bounded-collection.ts";
import type { CollectionIndexes } from "../infra/indexes.ts";
import type { Mongo } from "../infra/mongo.ts";
import type { AddressHash } from "./address-hash.ts";
import type { Link } from "./link-store.ts";

interface Stored {
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

/** An opt-out as operators see it. Without an address: it is stored as a hash only. */
export type OptOutView = { readonly at: string } & (
  { readonly candidate_id: string | null } | { readonly reference_id: string }
);

/** An opt-out, or its end, that candidates do not note yet. */
export interface Spreading {
  readonly id: string;
  readonly accountId: string;
  readonly address: string;
  /** Whose link was used. Null once it is erased. */
  readonly candidate: string | null;
  readonly lifted: boolean;
}

const INDEXES: CollectionIndexes = {
  collection: "opt_outs",
  indexes: [
    { key: { account: 1, at: 1 } },
    { key: { account: 1, candidate: 1 } },
    { key: { spreading: 1 }, partialFilterExpression: { spreading: true } },
  ],
};

/**
 * The addresses whose owners want no more messages from an account: from none of its candidates, past and future. Every
 * method takes one round trip, and may throw problem store_unavailable.
 */
export class OptOutStore {
  readonly indexes = [INDEXES];
  readonly #addresses: AddressHash;
  readonly #optOuts: BoundedCollection<Stored>;

  constructor(mongo: Mongo, addresses: AddressHash) {
    this.#addresses = addresses;
    this.#optOuts = new BoundedCollection(mongo, "opt_outs");
  }

  /**
   * Adds the address that a link was sent to. The first time counts, unless an operator has lifted it since.
   * @param source the candidate, and the recipient as in Link. Null if the candidate was erased.
   */
  async add(
    link: Pick<Link, "accountId" | "address">,
    source: Pick<Link, "id" | "to"> | null,
    at: string,
  ): Promise<void> {
    const { accountId } = link;
    const address = this.#addresses.keyed(link.address);
    const _id = `${accountId}/${address}`;
    const stored = { account: accountId, address, candidate: source?.id ?? null, to: source?.to ?? null, at };
    await this.#optOuts.updateOne(
      { _id },
      { $setOnInsert: stored, $set: { spreading: true, lifted_at: null } },
      { upsert: true },
    );
  }

  /** Returns those of the addresses whose owners have opted out. No round trip without addresses. */
  async among(accountId: string, emails: readonly string[]): Promise<string[]> {
    if (emails.length === 0) return [];
    const ids = emails.flatMap((email) => this.#addresses.all(email).map((hash) => `${accountId}/${hash}`));
    const found = await this.#optOuts.find({ _id: { $in: ids }, lifted_at: null }, { limit: ids.length });
    const hashes = new Set(found.map(({ address }) => address));
    return emails.filter((email) => this.#addresses.all(email).some((hash) => hashes.has(hash)));
  }

  /** Returns whether the owner of the address that a link was sent to has opted out. */
  async has({ accountId, address }: Pick<Link, "accountId" | "address">): Promise<boolean> {
    const _id = `${accountId}/${this.#addresses.keyed(address)}`;
    return (await this.#optOuts.findOne({ _id, lifted_at: null })) !== null;
  }

  /** Returns the opt-outs of an account, the oldest first. */
  async list(accountId: string): Promise<OptOutView[]> {
    const found = await this.#optOuts.find({ account: accountId, lifted_at: null }, { sort: { at: 1 } });
    return found.map(({ at, candidate, to }) =>
      to === null || to === TO_CANDIDATE ? { at, candidate_id: candidate } : { at, reference_id: to },
    );
  }

  /** Lets the account write to an address again. Returns whether its owner had opted out. */
  async lift(accountId: string, email: string, at: string): Promise<boolean> {
    const ids = this.#addresses.all(email).map((hash) => `${accountId}/${hash}`);
    let any = false;
    for (const _id of new Set(ids))
      any =
        (await this.#optOuts.updateOne({ _id, lifted_at: null }, { $set: { lifted_at: at, spreading: true } })) || any;
    return any;
  }

  /** Returns what candidates do not note yet. One index range. */
  async spreading(limit: number): Promise<Spreading[]> {
    const found = await this.#optOuts.find({ spreading: true }, { limit });
    return found.map(({ _id, account, address, candidate, lifted_at }) => ({
      id: _id,
      accountId: account,
      address,
      candidate,
      lifted: lifted_at !== null,
    }));
  }

  /** Notes that every candidate of the account notes it, unless it was changed meanwhile. */
  async spread({ id, lifted }: Spreading): Promise<void> {
    if (lifted) await this.#optOuts.deleteOne({ _id: id, lifted_at: { $gt: "" } });
    else await this.#optOuts.updateOne({ _id: id, lifted_at: null }, { $unset: { spreading: "" } });
  }

  /** Forgets where the opt-outs of an erased candidate came from. They hold for other candidates with the same address. */
  async forget({ accountId, id }: CandidateKey): Promise<void> {
    await this.#optOuts.updateMany({ account: accountId, candidate: id }, { $set: { candidate: null, to: null } });
  }
}
