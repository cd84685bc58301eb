import type { CandidateKey } from "../candidates/record.ts";
import { Gathered } from "../infra/gathered.ts";
import type { Reservation } from "./mail-budget.ts";
import type { Try } from "./message-store.ts";
import type { PlanStore } from "./plan-store.ts";
import type { ReminderStores } from "./stores.ts";

/** Minimum time between two writes, in milliseconds. Messages that are written together cost the store less. */
const GAP_MS = 250;

/** One time that a message was given to the mail server. */
export interface Tried {
  readonly key: CandidateKey;
  readonly tried: Try;
  readonly reservation: Reservation;
  /** True if the reservation is used up. Otherwise the caller gives it back. */
  readonly isUsed: boolean;
}

interface Dependencies {
  readonly stores: Pick<ReminderStores, "budget" | "messages" | "removeAll">;
  readonly candidates: Pick<PlanStore, "kept">;
}

/** Records what became of messages: in the history, and in the counts of the budget. */
export class Recorder {
  readonly #dependencies: Dependencies;
  readonly #gathered = new Gathered<Tried>(GAP_MS, (tried) => this.#record(tried));

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Resolves once it is recorded.
   * @param inProgress number of candidates that are handled now. If all of them wait for this, it waits for no others.
   * @throws problem store_unavailable
   */
  record(tried: Tried, inProgress: number): Promise<void> {
    const recorded = this.#gathered.add(tried);
    if (this.#gathered.size >= inProgress) this.#gathered.flush();
    return recorded;
  }

  /** Two round trips and one to three for each account, however many messages there are; five or six more for each erased candidate. */
  async #record(all: readonly Tried[]): Promise<void> {
    const { stores } = this.#dependencies;
    try {
      await stores.messages.add(all);
    } finally {
      await this.#removeErased(all);
    }
    const used = all.filter(({ isUsed }) => isUsed);
    await stores.budget.settled(
      used.map(({ reservation, tried }) => ({ ...reservation, isBounced: tried.kind === "bounced" })),
    );
  }

  /** Removes what was written about candidates after their erasure began, which it may have missed. */
  async #removeErased(all: readonly Tried[]): Promise<void> {
    const { candidates, stores } = this.#dependencies;
    const kept = await candidates.kept(all.map(({ key }) => key.id));
    for (const { key, reservation } of all.filter((each) => !kept.has(each.key.id))) {
      await stores.removeAll(key);
      await stores.budget.forgetAddresses(key.accountId, [reservation.address]); // its link may be gone already
    }
  }
}
