import { isTombstone } from "../candidates/erasure.ts";
import { optedOut } from "../candidates/outreach.ts";
import type { CandidateReader } from "../candidates/reader.ts";
import type { CandidateStore } from "../candidates/store.ts";
import { isGone } from "../problems.ts";
import type { AddressHash } from "./address-hash.ts";
import { optedIn } from "./edits.ts";
import type { OptOutStore, Spreading } from "./opt-out-store.ts";
import type { PlanStore, Recipients } from "./plan-store.ts";

const MAX_AT_ONCE = 1_000;
/** Candidates that are read at once, with their references: up to 10 MB. */
const PAGE = 10;

interface Dependencies {
  readonly store: Pick<CandidateStore, "change"> & { readonly reader: Pick<CandidateReader, "find"> };
  readonly candidates: Pick<PlanStore, "recipients">;
  readonly optOuts: Pick<OptOutStore, "spreading" | "spread" | "forget">;
  readonly addresses: AddressHash;
}

/**
 * Notes opt-outs, and their ends, on all candidates of an account with the address. Until then the sender still looks at the
 * opt-outs themselves before each message.
 */
export class OptOutSpreader {
  readonly #dependencies: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  /** Makes one pass. Returns how many candidates have changed. @throws problem store_unavailable */
  async run(signal: AbortSignal): Promise<number> {
    const all = await this.#dependencies.optOuts.spreading(MAX_AT_ONCE);
    let count = 0;
    for (const accountId of new Set(all.map((each) => each.accountId))) {
      if (signal.aborted) return count;
      const changes = all.filter((each) => each.accountId === accountId);
      count += await this.#spread(accountId, changes, signal);
    }
    return count;
  }

  async #spread(accountId: string, changes: readonly Spreading[], signal: AbortSignal): Promise<number> {
    const { candidates, optOuts, addresses } = this.#dependencies;
    const lifted = new Map(changes.map((change) => [change.address, change.lifted]));
    const isOut = (email: string) => addresses.all(email).map((hash) => lifted.get(hash));
    let count = 0;
    for (let after = ""; ;) {
      const page = await candidates.recipients(accountId, after, PAGE);
      for (const candidate of page) {
        if (signal.aborted) return count;
        if (await this.#note(accountId, candidate, isOut)) count++;
      }
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE) break;
      after = last.change;
    }
    for (const change of changes) {
      await this.#forgetErased(change);
      await optOuts.spread(change);
    }
    return count;
  }

  /** Somebody may stop the messages just after the erasure has looked for opt-outs. */
  async #forgetErased({ accountId, candidate }: Spreading): Promise<void> {
    if (candidate === null) return;
    const { store, optOuts } = this.#dependencies;
    const found = await store.reader.find(accountId, candidate);
    if (found === null || isTombstone(found)) await optOuts.forget({ accountId, id: candidate });
  }

  /** @param isOut of an address: false for an opt-out, true for its end. */
  async #note(
    accountId: string,
    { id, emails }: Recipients,
    isOut: (email: string) => readonly (boolean | undefined)[],
  ): Promise<boolean> {
    const out = emails.filter((email) => isOut(email).includes(false));
    const back = emails.filter((email) => isOut(email).includes(true));
    if (out.length + back.length === 0) return false;
    try {
      let changed = false;
      await this.#dependencies.store.change(accountId, id, (before) => {
        const after = optedOut(optedIn(before, back), out);
        changed = after !== before;
        return after;
      });
      return changed;
    } catch (error) {
      if (isGone(error)) return false;
      throw error;
    }
  }
}
