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
import { pageViewStore } from "./pages/view-store.ts";
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

export type ReminderStores = ReturnType<typeof reminderStores>;

export function reminderStores(mongo: Mongo, addresses: AddressHash, random: (bytes: number) => Buffer) {
  const accounts = new ReminderAccountStore(mongo);
  const links = new LinkStore(mongo, random);
  const messages = new MessageStore(mongo);
  const optOuts = new OptOutStore(mongo, addresses);
  const budget = new MailBudget(mongo);
  const plans = new PlanStore(mongo);
  const pageViews = pageViewStore(mongo);
  const indexes = [accounts, links, messages, optOuts, budget].flatMap((store): CollectionIndexes[] => store.indexes);

  /**
   * Removes what is stored about a candidate: links, history, and that the account wrote to these addresses. Opt-outs hold for the
   * next candidate with the address, so they only forget this one. @throws problem store_unavailable
   */
  async function removeAll(candidate: CandidateKey): Promise<void> {
    await budget.forgetAddresses(candidate.accountId, await links.remove(candidate));
    await messages.remove(candidate);
    await optOuts.forget(candidate);
  }

  return { addresses, accounts, links, messages, optOuts, budget, plans, pageViews, indexes, removeAll };
}
