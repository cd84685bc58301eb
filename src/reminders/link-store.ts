import { createHash } from "node:crypto";
import { type CandidateKey, TO_CANDIDATE } from "../candidates/record.ts";
import { BoundedCollection } from "../infra/bounded-collection.ts";
import type { Mongo } from "../infra/mongo.ts";

export interface Link extends CandidateKey {
  /** TO_CANDIDATE, or the id of a reference. */
  readonly to: string;
  /** The address that it was sent to, as a hash (AddressHash). */
  readonly address: string;
}

/** What a stop link knows. It has no candidate if that was erased. */
export type StopLink = Pick<Link, "accountId" | "address"> & Partial<Link>;

interface Stored {
  /** The SHA-256 of the token. The token itself is only in the message. */
  _id: string;
  account: string;
  candidate: string;
  to: string;
  address: string;
}

/** The links in messages. Every method may throw problem store_unavailable. */
export class LinkStore {
  readonly indexes = [{ collection: "links", indexes: [{ key: { account: 1, candidate: 1 } }] }];
  readonly #random: (bytes: number) => Buffer;
  readonly #links: BoundedCollection<Stored>;

  constructor(mongo: Mongo, random: (bytes: number) => Buffer) {
    this.#random = random;
    this.#links = new BoundedCollection(mongo, "links");
  }

  /** Makes a link, and returns its token: 256 random bits in base64url, 43 characters. */
  async add({ accountId, id, to, address }: Link): Promise<string> {
    const token = this.#random(32).toString("base64url");
    await this.#links.insertOne({ _id: hashOf(token), account: accountId, candidate: id, to, address });
    return token;
  }

  /** @param hash as hashOfToken returns it. */
  async find(hash: string): Promise<Link | undefined> {
    const found = await this.#links.findOne({ _id: hash });
    if (found === null) return undefined;
    const { account, candidate, to, address } = found;
    return { accountId: account, id: candidate, to, address };
  }

  async existing(hashes: readonly string[]): Promise<ReadonlySet<string>> {
    const options = { projection: { _id: 1 }, limit: hashes.length };
    const found = await this.#links.find({ _id: { $in: [...hashes] } }, options);
    return new Set(found.map(({ _id }) => _id));
  }

  async drop(token: string): Promise<void> {
    await this.#links.deleteOne({ _id: hashOf(token) });
  }

  /** Removes the links of a candidate. Returns the addresses that they were sent to, as hashes. */
  async remove({ accountId, id }: CandidateKey): Promise<string[]> {
    const ofCandidate = { account: accountId, candidate: id };
    const found = await this.#links.find(ofCandidate, { projection: { address: 1 } });
    if (found.length > 0) await this.#links.deleteMany(ofCandidate);
    return [...new Set(found.map(({ address }) => address))];
  }
}

/** Returns the path of a recipient's first page. @param to as in Link. */
export function pathOf(to: string, token: string): string {
  return `/${to === TO_CANDIDATE ? "u" : "r"}/${token}`;
}

/** Returns what is kept of a token. Empty if the text cannot be one. */
export function hashOfToken(text: string): string {
  return /^[\w-]{43}$/.test(text) ? hashOf(text) : "";
}

function hashOf(token: string): string {
  return createHash("sha256").update(token).digest("base64url");
}
