import { Gathered } from "../infra/gathered.ts";
import type { CountedMessage } from "./mail-budget.ts";
import type { Outcome } from "./mailer.ts";
import type { Try } from "./message-store.ts";
import type { ReminderStores } from "./stores.ts";

/** Minimum time between two writes, in milliseconds. Messages that are written together cost the store less. */
const GAP_MS = 250;

interface Tried {
  readonly tried: Try;
  readonly counted: CountedMessage;
}

/** Returns false if the message was not sent and is tried again. The caller then takes its count back. */
export function isUsed({ kind }: Outcome): boolean {
  return kind !== "outage" && kind !== "deferred";
}

/** Records what became of messages: in the history, and in the counts of the budget. */
export class Recorder {
  readonly #stores: ReminderStores;
  readonly #gathered = new Gathered<Tried>((tried) => this.#record(tried), { gapMs: GAP_MS });

  constructor(stores: ReminderStores) {
    this.#stores = stores;
  }

  /**
   * @param inProgress number of candidates that are handled now. If all of them wait for this, it waits for no others.
   * @throws problem store_unavailable
   */
  record(tried: Tried, inProgress: number): Promise<void> {
    const recorded = this.#gathered.add(tried);
    if (this.#gathered.size >= inProgress) this.#gathered.flush();
    return recorded;
  }

  async #record(all: readonly Tried[]): Promise<void> {
    const { messages, budget } = this.#stores;
    try {
      await messages.add(all);
    } finally {
      await this.#removeErased(all);
    }
    const used = all.filter(({ tried }) => isUsed(tried));
    await budget.settle(used.map(({ counted, tried }) => ({ ...counted, isBounced: tried.kind === "bounced" })));
  }

  /** Removes what was written about candidates after their erasure began, which it may have missed. */
  async #removeErased(all: readonly Tried[]): Promise<void> {
    const kept = await this.#stores.plans.kept(all.map(({ counted }) => counted.id));
    for (const { counted } of all.filter((each) => !kept.has(each.counted.id))) {
      await this.#stores.removeAll(counted);
      await this.#stores.budget.forgetAddresses(counted.accountId, [counted.address]); // its link may be gone already
    }
  }
}
