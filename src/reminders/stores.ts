import type { CandidateKey } from "../candidates/record.ts";
import type { CandidateStore } from "../candidates/store.ts";
import type { Clock } from "../infra/clock.ts";
import type { CollectionIndexes } from "../infra/indexes.ts";
import type { Mongo } from "../infra/mongo.ts";
import { ReminderAccountStore } from "./account-store.ts";
import type { AddressHash } from "./address-hash.ts";
import { linkStore } from "./link-store.ts";
import { mailBudget } from "./mail-budget.ts";
import { messageStore } from "./message-store.ts";
import { optOutStore } from "./opt-out-store.ts";
import { pageViews } from "./pages/view-store.ts";
import { PlanStore } from "./plan-store.ts";
import type { RulesReader } from "./rules.ts";

/** What most classes of reminders need. */
export type ReminderParts = Readonly<{ stores: ReminderStores; rules: RulesReader; clock: Clock }>;

/** What changes candidates needs besides. */
export type WritingParts = ReminderParts & { readonly candidates: CandidateStore };

export type ReminderStores = ReturnType<typeof reminderStores>;

export function reminderStores(mongo: Mongo, addresses: AddressHash, random: (bytes: number) => Buffer) {
  const accounts = new ReminderAccountStore(mongo);
  const links = linkStore(mongo, random);
  const messages = messageStore(mongo);
  const optOuts = optOutStore(mongo, addresses);
  const budget = mailBudget(mongo);
  const plans = new PlanStore(mongo);
  const pageView = pageViews(mongo);
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

  /** Removes what was written about candidates after their erasure began, which it may have missed. @throws as `removeAll` does. */
  async function removeErased(written: readonly (CandidateKey & { readonly address: string })[]): Promise<void> {
    const kept = await plans.kept(written.map(({ id }) => id));
    for (const { address, ...candidate } of written.filter(({ id }) => !kept.has(id))) {
      await removeAll(candidate);
      // It may have been noted after the erasure, or before there was a link, or its link is gone already.
      await budget.forgetAddresses(candidate.accountId, [address]);
    }
  }

  return { addresses, accounts, links, messages, optOuts, budget, plans, pageView, indexes, removeAll, removeErased };
}
