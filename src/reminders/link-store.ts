import { createHash } from "node:crypto";
import type { CandidateKey } from "../candidates/record.ts";
import { BoundedCollection } from "../infra/bounded-collection.ts";
import type { CollectionIndexes } from "../infra/indexes.ts";
import type { Mongo } from "../infra/mongo.ts";

export interface Link extends CandidateKey {
  /** TO_CANDIDATE, or the id of a reference. */
  readonly to: string;
  /** The address that it was sent to, as a hash (AddressHash). */
  readonly address: string;
}

/** A recipient's page. */
export interface NewPage {
  readonly url: string;
  /** Stops further messages. */
  readonly stopUrl: string;
  /** Removes the link again, if it was not sent. */
  readonly drop: () => Promise<void>;
}

/** A link as the sweep sees it. */
export interface StoredLink extends Pick<Link, "accountId" | "address"> {
  readonly id: string;
}

interface Stored {
  /** The SHA-256 of the token. The token itself is only in the message. */
  _id: string;
  account: string;
  candidate: string;
  to: string;
  address: string;
}

const INDEXES: CollectionIndexes = { collection: "links", indexes: [{ key: { account: 1, candidate: 1 } }] };

const TOKEN_BYTES = 32;
/** 32 bytes in base64url. */
const TOKEN = /^[\w-]{43}$/;

/** The links in messages. Every method may throw problem store_unavailable. */
export class LinkStore {
  readonly indexes = [INDEXES];
  readonly #random: (bytes: number) => Buffer;
  readonly #links: BoundedCollection<Stored>;

  constructor(mongo: Mongo, random: (bytes: number) => Buffer) {
    this.#random = random;
    this.#links = new BoundedCollection(mongo, "links");
  }

  /** Makes a link, and returns its token: 256 random bits in base64url, 43 characters. One round trip. */
  async add({ accountId, id, to, address }: Link): Promise<string> {
    const token = this.#random(TOKEN_BYTES).toString("base64url");
    await this.#links.insertOne({ _id: hashOf(token), account: accountId, candidate: id, to, address });
    return token;
  }

  /** Returns whom a link was sent to. Undefined if there is no such link. One round trip. */
  async find(hash: string): Promise<Link | undefined> {
    const found = await this.#links.findOne({ _id: hash });
    return found === null
      ? undefined
      : { accountId: found.account, id: found.candidate, to: found.to, address: found.address };
  }

  /** Returns which of the hashes are those of links. One round trip. */
  async existing(hashes: readonly string[]): Promise<ReadonlySet<string>> {
    const found = await this.#links.find(
      { _id: { $in: [...hashes] } },
      { projection: { _id: 1 }, limit: hashes.length },
    );
    return new Set(found.map(({ _id }) => _id));
  }

  /** Removes a link that was not sent. One round trip. */
  async drop(token: string): Promise<void> {
    await this.#links.deleteOne({ _id: hashOf(token) });
  }

  /** Removes the links of a candidate. Returns the addresses that they were sent to, as hashes. Two round trips. */
  async remove({ accountId, id }: CandidateKey): Promise<string[]> {
    const ofCandidate = { account: accountId, candidate: id };
    const found = await this.#links.find(ofCandidate, { projection: { address: 1 } });
    if (found.length > 0) await this.#links.deleteMany(ofCandidate);
    return [...new Set(found.map(({ address }) => address))];
  }

  /** Returns links in the order of their ids, after that one. One index range, one round trip. */
  async after(last: string, limit: number): Promise<StoredLink[]> {
    const found = await this.#links.find({ _id: { $gt: last } }, { sort: { _id: 1 }, limit });
    return found.map(({ _id, account, address }) => ({ id: _id, accountId: account, address }));
  }

  /** Gives an address another hash. One round trip. */
  async rename(id: string, address: string): Promise<void> {
    await this.#links.updateOne({ _id: id }, { $set: { address } });
  }
}

/** Returns what is kept of a token. Undefined if the text cannot be one. */
export function hashOfToken(text: string): string | undefined {
  return TOKEN.test(text) ? hashOf(text) : undefined;
}

function hashOf(token: string): string {
  return createHash("sha256").update(token).digest("base64url");
}
