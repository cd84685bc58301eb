import type { CandidateKey } from "../candidates/record.ts";
import type { CandidateStore } from "../candidates/store.ts";
import type { Clock } from "../infra/clock.ts";
import type { CollectionIndexes } from "../infra/indexes.ts";
import type { Mongo } from "../infra/mongo.ts";
import { ReminderAccountStore } from "./account-store.ts";
import type { AddressHash } from "./address-hash.ts";
import { LinkStore } from "./link-store.ts";
import { MailBudget } from "./mail-budget.ts";
import { MessageStore } from "./message-store.ts";
import { OptOutStore } from "./opt-out-store.ts";
import { PageViewStore } from "./pages/view-store.ts";
import { PlanStore } from "./plan-store.ts";
import type { RulesReader } from "./rules.ts";

/** What most classes of reminders need. */
export interface ReminderParts {
  readonly stores: ReminderStores;
  readonly rules: RulesReader;
  readonly clock: Clock;
}

/** What changes candidates needs besides. */
export interface WritingParts extends ReminderParts {
  readonly candidates: CandidateStore;
}

export class ReminderStores {
  readonly addresses: AddressHash;
  readonly accounts: ReminderAccountStore;
  readonly links: LinkStore;
  readonly messages: MessageStore;
  readonly optOuts: OptOutStore;
  readonly budget: MailBudget;
  readonly plans: PlanStore;
  readonly pageViews: PageViewStore;

  constructor(mongo: Mongo, addresses: AddressHash, random: (bytes: number) => Buffer) {
    this.addresses = addresses;
    this.accounts = new ReminderAccountStore(mongo);
    this.links = new LinkStore(mongo, random);
    this.messages = new MessageStore(mongo);
    this.optOuts = new OptOutStore(mongo, addresses);
    this.budget = new MailBudget(mongo);
    this.plans = new PlanStore(mongo);
    this.pageViews = new PageViewStore(mongo);
  }

  /**
   * Removes what is stored about a candidate: links, history, and that the account wrote to these addresses. Opt-outs hold
   * for the next candidate with the address, so they only forget this one.
   * @throws problem store_unavailable
   */
  async removeAll(candidate: CandidateKey): Promise<void> {
    const addresses = await this.links.remove(candidate);
    const keyed = addresses.map((address) => this.addresses.keyed(address));
    await this.budget.forgetAddresses(candidate.accountId, keyed);
    await this.messages.remove(candidate);
    await this.optOuts.forget(candidate);
  }

  get indexes() {
    const { accounts, links, messages, optOuts, budget } = this;
    return [accounts, links, messages, optOuts, budget].flatMap((store): CollectionIndexes[] => store.indexes);
  }
}
