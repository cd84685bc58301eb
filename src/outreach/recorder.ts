import type { ChaseStore } from "../candidates/chase-store.ts";
import type { CandidateKey } from "../candidates/reader.ts";
import { Gathered } from "../infra/gathered.ts";
import type { Reservation } from "./mail-budget.ts";
import type { Try } from "./message-store.ts";
import type { OutreachStores } from "./stores.ts";

/** Pause between two writes, in milliseconds: every message costs the store less if several are written at once. */
const GAP_MS = 250;

/** One time that a message was given to the mail server. */
export interface Tried {
  readonly key: CandidateKey;
  readonly tried: Try;
  readonly reservation: Reservation;
  /** Whether the reservation is used up. Else it is given back. */
  readonly isUsed: boolean;
}

interface Dependencies {
  readonly stores: Pick<OutreachStores, "budget" | "messages" | "removeAll">;
  readonly candidates: Pick<ChaseStore, "kept">;
}

/** Records what became of messages. */
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

  /** Three round trips and one for each account, however many messages there are. */
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

  /** If a candidate was erased meanwhile, the erasure has not removed what was written since. */
  async #removeErased(all: readonly Tried[]): Promise<void> {
    const { candidates, stores } = this.#dependencies;
    const kept = await candidates.kept(all.map(({ key }) => key.id));
    for (const { key, reservation } of all.filter((each) => !kept.has(each.key.id))) {
      await stores.removeAll(key);
      await stores.budget.forgetAddresses(key.accountId, [reservation.address]); // its link may be gone already
    }
  }
}
