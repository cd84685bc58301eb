import { createHash } from "node:crypto";
import { type CandidateKey, TO_CANDIDATE } from "../candidates/record.ts";
import { BoundedCollection } from "../infra/bounded-collection.ts";
import { DAY_MS, timestamp } from "../infra/clock.ts";
import type { Mongo } from "../infra/mongo.ts";

export interface Link extends CandidateKey {
  /** TO_CANDIDATE, or the id of a reference. */
  readonly to: string;
  /** The address that it was sent to, as a hash (AddressHash). */
  readonly address: string;
  /** The language of its pages. Absent in links of earlier releases: those follow the settings, and never expire. */
  readonly language?: string;
  /** What a referee is asked. Null for the usual questions. */
  readonly questions?: readonly string[] | null;
  /** The end of its last day, RFC 3339. */
  readonly expires_at?: string;
  /** The reference's updated_at once the referee has declined through this link. */
  readonly declined_at?: string;
}

/** Number of days for which a link works. */
const LINK_DAYS = 180;

/** Returns when a link that is made now expires: a whole UTC day ends then, because people read a date. RFC 3339. */
export function expiryOf(now: number): string {
  return timestamp((Math.floor(now / DAY_MS) + LINK_DAYS + 1) * DAY_MS - 1);
}

/** What a stop link knows. It has no candidate if that was erased. */
export type StopLink = Pick<Link, "accountId" | "address"> & Partial<Link>;

interface Stored extends Omit<Link, "accountId" | "id"> {
  /** The SHA-256 of the token. The token itself is only in the message. */
  _id: string;
  account: string;
  candidate: string;
}

export type LinkStore = ReturnType<typeof linkStore>;

/** The links in messages. Every method may throw problem store_unavailable. */
export function linkStore(mongo: Mongo, random: (bytes: number) => Buffer) {
  const links = new BoundedCollection<Stored>(mongo, "links");
  return {
    indexes: [{ collection: "links", indexes: [{ key: { account: 1, candidate: 1 } }] }],

    /** Makes a link, and returns its token: 256 random bits in base64url, 43 characters. */
    async add({ accountId, id, ...link }: Link) {
      const token = random(32).toString("base64url");
      await links.insertOne({ _id: hashOf(token), account: accountId, candidate: id, ...link });
      return token;
    },

    /** @param hash as hashOfToken returns it. */
    async find(hash: string): Promise<Link | undefined> {
      const found = await links.findOne({ _id: hash });
      if (found === null) return undefined;
      const { _id, account, candidate, ...link } = found;
      return { accountId: account, id: candidate, ...link };
    },

    /** Notes that the referee has declined through this link. @param at the reference's updated_at since then. */
    noteDeclined: (hash: string, at: string) => links.updateOne({ _id: hash }, { $set: { declined_at: at } }),
    drop: (token: string) => links.deleteOne({ _id: hashOf(token) }),

    existing: async (hashes: readonly string[]): Promise<ReadonlySet<string>> => {
      const options = { projection: { _id: 1 }, limit: hashes.length };
      const found = await links.find({ _id: { $in: [...hashes] } }, options);
      return new Set(found.map(({ _id }) => _id));
    },

    /** Removes the links of a candidate. Returns the addresses that they were sent to, as hashes. */
    async remove({ accountId, id }: CandidateKey) {
      const ofCandidate = { account: accountId, candidate: id };
      const found = await links.find(ofCandidate, { projection: { address: 1 } });
      if (found.length > 0) await links.deleteMany(ofCandidate);
      return [...new Set(found.map(({ address }) => address))];
    },
  };
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
