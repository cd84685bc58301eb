import type { CandidateKey } from "../candidates/record.ts";
import { BoundedCollection } from "../infra/bounded-collection.ts";
import type { Mongo } from "../infra/mongo.ts";
import type { Outcome } from "./mailer.ts";

/** One time that a message was given to the mail server, and what became of it. */
export interface Try extends Outcome {
  readonly message_id: string;
  /** TO_CANDIDATE, or the id of a reference. */
  readonly to: string;
  /** The ids of the documents that it lists. */
  readonly documents: readonly string[];
  /** Number of times that it was given to the mail server, this time included. */
  readonly tries: number;
  /** RFC 3339. */
  readonly at: string;
  /** May name the candidate: never log it. Absent in messages of earlier versions. */
  readonly subject?: string;
}

interface Stored extends Try {
  /** The Message-ID and the number of tries. */
  _id: string;
  account: string;
  candidate: string;
}

export type MessageStore = ReturnType<typeof messageStore>;

/** The history of messages. Every method may throw problem store_unavailable. */
export function messageStore(mongo: Mongo) {
  const messages = new BoundedCollection<Stored>(mongo, "messages");
  return {
    indexes: [{ collection: "messages", indexes: [{ key: { account: 1, candidate: 1 } }] }],

    add: (all: readonly { readonly counted: CandidateKey; readonly tried: Try }[]) => {
      const inserts = all.map(({ counted: { accountId, id }, tried }) => {
        const _id = `${tried.message_id} ${tried.tries}`;
        return { insertOne: { document: { _id, account: accountId, candidate: id, ...tried } } };
      });
      return messages.write("insert", inserts);
    },

    /** Returns what was tried for a candidate, the oldest first. */
    async of({ accountId, id }: CandidateKey) {
      const projection = { _id: 0, account: 0, candidate: 0 };
      const found = await messages.find<Try>({ account: accountId, candidate: id }, { projection });
      return found.toSorted((one, other) => (one.at < other.at ? -1 : 1));
    },

    remove: ({ accountId, id }: CandidateKey) => messages.deleteMany({ account: accountId, candidate: id }),
  };
}
