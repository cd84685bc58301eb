import { createHash } from "node:crypto";
import type { Collection } from "mongodb";
import type { CandidateKey } from "../candidates/reader.ts";
import type { CollectionIndexes } from "../infra/indexes.ts";
import type { Mongo } from "../infra/mongo.ts";

/** Whom a link was sent to. */
export interface Link extends CandidateKey {
  /** TO_CANDIDATE, or the id of a reference. */
  readonly to: string;
  /** The address that it was sent to, as a hash (hashOfAddress). */
  readonly address: string;
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
  readonly #mongo: Mongo;
  readonly #random: (bytes: number) => Buffer;
  readonly #links: Collection<Stored>;

  constructor(mongo: Mongo, random: (bytes: number) => Buffer) {
    this.#mongo = mongo;
    this.#random = random;
    this.#links = mongo.db.collection("links");
  }

  /** Makes a link, and returns its token: 256 random bits in base64url, 43 characters. One round trip. */
  async add({ accountId, id, to, address }: Link): Promise<string> {
    const token = this.#random(TOKEN_BYTES).toString("base64url");
    const stored = { _id: hashOf(token), account: accountId, candidate: id, to, address };
    await this.#mongo.bounded("insert links", (limits) => this.#links.insertOne(stored, limits));
    return token;
  }

  /** Returns whom a link was sent to. Undefined if there is no such link. One round trip. */
  async find(hash: string): Promise<Link | undefined> {
    const found = await this.#mongo.bounded("find links", (limits) => this.#links.findOne({ _id: hash }, limits));
    return found === null
      ? undefined
      : { accountId: found.account, id: found.candidate, to: found.to, address: found.address };
  }

  /** Returns which of the hashes are those of links. One round trip. */
  async existing(hashes: readonly string[]): Promise<ReadonlySet<string>> {
    const found = await this.#mongo.bounded("find links", (limits) =>
      this.#links
        .find({ _id: { $in: [...hashes] } }, { ...limits, projection: { _id: 1 }, batchSize: hashes.length + 1 })
        .toArray(),
    );
    return new Set(found.map(({ _id }) => _id));
  }

  /** Removes the links of a candidate. One round trip. */
  async remove({ accountId, id }: CandidateKey): Promise<void> {
    await this.#mongo.bounded("delete links", (limits) =>
      this.#links.deleteMany({ account: accountId, candidate: id }, limits),
    );
  }
}

/** Returns what is kept of a token. Undefined if the text cannot be one. */
export function hashOfToken(text: string): string | undefined {
  return TOKEN.test(text) ? hashOf(text) : undefined;
}

function hashOf(token: string): string {
  return createHash("sha256").update(token).digest("base64url");
}
