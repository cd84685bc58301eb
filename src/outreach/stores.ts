import type { CandidateKey } from "../candidates/reader.ts";
import type { Mongo } from "../infra/mongo.ts";
import { OutreachAccountStore } from "./account-store.ts";
import { LinkStore } from "./link-store.ts";
import { MessageStore } from "./message-store.ts";

export class OutreachStores {
  readonly accounts: OutreachAccountStore;
  readonly links: LinkStore;
  readonly messages: MessageStore;

  constructor(mongo: Mongo, random: (bytes: number) => Buffer) {
    this.accounts = new OutreachAccountStore(mongo);
    this.links = new LinkStore(mongo, random);
    this.messages = new MessageStore(mongo);
  }

  /** Removes what is stored about a candidate: links and history. Two round trips. @throws problem store_unavailable */
  async removeAll(candidate: CandidateKey): Promise<void> {
    await this.links.remove(candidate);
    await this.messages.remove(candidate);
  }

  get indexes() {
    return [...this.accounts.indexes, ...this.links.indexes, ...this.messages.indexes];
  }
}
