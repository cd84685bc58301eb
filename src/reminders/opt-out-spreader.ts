import { isTombstone } from "../candidates/erasure.ts";
import { optedOut } from "../candidates/outreach.ts";
import type { CandidateStore, Edit } from "../candidates/store.ts";
import { grouped } from "../infra/grouped.ts";
import { optedIn } from "./edits.ts";
import type { OptOut } from "./opt-out-store.ts";
import type { ReminderStores } from "./stores.ts";
import { unlessErased } from "./unless-erased.ts";

/** Maximum number of opt-outs, and ends of opt-outs, that one pass notes. */
const BATCH = 1_000;
/** Number of candidates that are read at once, with their references: up to 10 MB. */
const PAGE = 10;

/**
 * Notes opt-outs, and their ends, on all candidates of an account with the address. Until then the sender still looks at the
 * opt-outs themselves before each message.
 */
export class OptOutSpreader {
  readonly #candidates: CandidateStore;
  readonly #stores: ReminderStores;

  constructor(candidates: CandidateStore, stores: ReminderStores) {
    this.#candidates = candidates;
    this.#stores = stores;
  }

  /** Makes one pass. Returns the number of candidates that have changed. @throws problem store_unavailable */
  async run(signal: AbortSignal): Promise<number> {
    let count = 0;
    const all = await this.#stores.optOuts.spreading(BATCH);
    for (const [accountId, changes] of grouped(all, ({ account }) => account)) {
      if (signal.aborted) return count;
      count += await this.#spread(accountId, changes, signal);
    }
    return count;
  }

  async #spread(accountId: string, changes: readonly OptOut[], signal: AbortSignal): Promise<number> {
    const { plans, optOuts } = this.#stores;
    const lifted = new Map(changes.map(({ address, lifted_at }) => [address, lifted_at !== null]));
    let count = 0;
    for (let after: string | undefined = ""; after !== undefined;) {
      const page = await plans.recipients(accountId, after, PAGE);
      for (const { id, emails } of page) {
        if (signal.aborted) return count;
        if (await this.#note(accountId, id, emails, lifted)) count++;
      }
      after = page.length < PAGE ? undefined : page.at(-1)?.change;
    }
    for (const change of changes) {
      await this.#forgetErased(change);
      await optOuts.spread(change);
    }
    return count;
  }

  /** Somebody may stop the messages just after the erasure has looked for opt-outs. */
  async #forgetErased({ account, candidate }: OptOut): Promise<void> {
    if (candidate === null) return;
    const found = await this.#candidates.reader.find(account, candidate);
    if (found === null || isTombstone(found)) await this.#stores.optOuts.forget({ accountId: account, id: candidate });
  }

  /** @param lifted by the address's hash: false for an opt-out, true for its end. */
  async #note(
    accountId: string,
    id: string,
    emails: readonly string[],
    lifted: ReadonlyMap<string, boolean>,
  ): Promise<boolean> {
    const those = (isLifted: boolean) =>
      emails.filter((email) => this.#stores.addresses.all(email).some((hash) => lifted.get(hash) === isLifted));
    const [out, back] = [those(false), those(true)];
    if (out.length + back.length === 0) return false;
    let isChanged = false;
    const edit: Edit = (before) => {
      const after = optedOut(optedIn(before, back), out);
      isChanged = after !== before;
      return after;
    };
    await unlessErased(this.#candidates.change(accountId, id, edit));
    return isChanged;
  }
}
