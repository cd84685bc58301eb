import type { CandidateKey } from "../candidates/record.ts";
import { BoundedCollection } from "../infra/bounded-collection.ts";
import type { CollectionIndexes } from "../infra/indexes.ts";
import type { Mongo } from "../infra/mongo.ts";
import type { Outcome } from "./mailer.ts";

/** One time that a message was given to the mail server, and what became of it. No personal data. */
export interface Try extends Outcome {
  readonly message_id: string;
  /** TO_CANDIDATE, or the id of a reference. */
  readonly to: string;
  /** The ids of the documents that it lists. */
  readonly documents: readonly string[];
  /** How often it was given to the mail server, this time included. */
  readonly tries: number;
  /** RFC 3339. */
  readonly at: string;
}

interface Stored extends Try {
  /** The Message-ID and the number of tries. */
  _id: string;
  account: string;
  candidate: string;
}

const INDEXES: CollectionIndexes = { collection: "messages", indexes: [{ key: { account: 1, candidate: 1 } }] };

const HISTORY = { _id: 0, account: 0, candidate: 0 } as const;

/** The history of messages. Every method may throw problem store_unavailable. */
export class MessageStore {
  readonly indexes = [INDEXES];
  readonly #messages: BoundedCollection<Stored>;

  constructor(mongo: Mongo) {
    this.#messages = new BoundedCollection(mongo, "messages");
  }

  /** Adds what became of messages. One round trip. */
  async add(all: readonly { readonly key: CandidateKey; readonly tried: Try }[]): Promise<void> {
    const inserts = all.map(({ key, tried }) => {
      const _id = `${tried.message_id} ${tried.tries}`;
      return { insertOne: { document: { _id, account: key.accountId, candidate: key.id, ...tried } } };
    });
    await this.#messages.write("insert", inserts);
  }

  /** Returns what was tried for a candidate, the oldest first. One round trip. */
  async of({ accountId, id }: CandidateKey): Promise<Try[]> {
    const found = await this.#messages.find<Try>({ account: accountId, candidate: id }, { projection: HISTORY });
    return found.toSorted((one, other) => (one.at < other.at ? -1 : 1));
  }

  /** Removes what is stored about a candidate. One round trip. */
  async remove({ accountId, id }: CandidateKey): Promise<void> {
    await this.#messages.deleteMany({ account: accountId, candidate: id });
  }
}
