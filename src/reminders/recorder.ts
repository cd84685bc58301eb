import { Gathered } from "../infra/gathered.ts";
import type { CountedMessage } from "./mail-budget.ts";
import type { Outcome } from "./mailer.ts";
import type { Try } from "./message-store.ts";
import type { ReminderStores } from "./stores.ts";

/** Minimum time between two writes, in milliseconds. Messages that are written together cost the store less. */
const GAP_MS = 250;

type Tried = Readonly<{ tried: Try; counted: CountedMessage }>;

/** Returns false if the message was not sent and is tried again. The caller then takes its count back. */
export function isUsed({ kind }: Outcome): boolean {
  return kind !== "outage" && kind !== "deferred";
}

/** Records what became of messages: in the history, and in the counts of the budget. */
export function recorder(stores: ReminderStores) {
  const gathered = new Gathered<Tried>(recordAll, { gapMs: GAP_MS });

  async function recordAll(all: readonly Tried[]): Promise<void> {
    try {
      await stores.messages.add(all);
    } finally {
      await stores.removeErased(all.map(({ counted }) => counted));
    }
    const used = all.filter(({ tried }) => isUsed(tried));
    await stores.budget.settle(used.map(({ counted, tried }) => ({ ...counted, isBounced: tried.kind === "bounced" })));
  }

  /**
   * @param inProgress number of candidates that are handled now. If all of them wait for this, it waits for no others.
   * @throws problem store_unavailable
   */
  return (tried: Tried, inProgress: number): Promise<void> => {
    const recorded = gathered.add(tried);
    if (gathered.size >= inProgress) gathered.flush();
    return recorded;
  };
}
