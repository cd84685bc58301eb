import pLimit from "p-limit";
import { planned } from "../candidates/outreach.ts";
import type { CandidateKey } from "../candidates/record.ts";
import type { CandidateStore } from "../candidates/store.ts";
import { SETTLED_MS } from "./account-store.ts";
import { replanned } from "./edits.ts";
import { plannerOf, type ReminderRules } from "./plan.ts";
import type { ReminderParts } from "./stores.ts";
import { unlessErased } from "./unless-erased.ts";

const MAX_ACCOUNTS = 1_000;
const BATCH = 100;
/** Maximum number of candidates of one account that one pass replans, so that the other accounts do not wait long. */
const SHARE = 1_000;
const CONCURRENCY = 10;

/** Replans reminders after an account's settings change. */
export class Replanner {
  readonly #candidates: CandidateStore;
  readonly #parts: ReminderParts;

  constructor(candidates: CandidateStore, parts: ReminderParts) {
    this.#candidates = candidates;
    this.#parts = parts;
  }

  /**
   * Makes one pass. Returns the number of candidates that have another plan.
   * @throws AggregateError with the failure of each account. The others are handled all the same.
   */
  async run(signal: AbortSignal): Promise<number> {
    const { stores, clock } = this.#parts;
    const failures: unknown[] = [];
    let count = 0;
    for (const { accountId, changedAt } of await stores.accounts.changed(MAX_ACCOUNTS)) {
      if (signal.aborted) return count;
      // Looked at before the plans: a write that ends later follows rules that were read later.
      const isOld = clock.now() > Date.parse(changedAt) + SETTLED_MS;
      try {
        const { changed, isDone } = await this.#replanAccount(accountId, signal);
        count += changed;
        if (isOld && isDone) await stores.accounts.settled(accountId, changedAt);
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, `${failures.length} accounts failed`);
    return count;
  }

  /** Replans candidates of one account, at most SHARE. `isDone` if none is left. */
  async #replanAccount(accountId: string, signal: AbortSignal): Promise<{ changed: number; isDone: boolean }> {
    const { rules, stores } = this.#parts;
    const limit = pLimit(CONCURRENCY);
    let changed = 0;
    for (let handled = 0; handled < SHARE && !signal.aborted; handled += BATCH) {
      const { rules: current } = await rules.fresh(accountId); // each time: they may have changed
      const keys = await stores.plans.plannedOtherwise(accountId, current.version, BATCH);
      const isChanged = (key: CandidateKey) => !signal.aborted && unlessErased(this.#replan(key, current));
      changed += (await limit.map(keys, isChanged)).filter(Boolean).length;
      if (keys.length < BATCH) return { changed, isDone: !signal.aborted };
    }
    return { changed, isDone: false };
  }

  /** Replans one candidate. Returns whether that changed what the API shows, or when the sender looks at it. */
  async #replan(key: CandidateKey, rules: ReminderRules): Promise<boolean> {
    const record = await this.#candidates.reader.get(key.accountId, key.id);
    const { outreach } = planned(record, plannerOf(rules), this.#parts.clock.now());
    if (JSON.stringify({ ...record.outreach, rules: rules.version }) === JSON.stringify(outreach)) {
      await this.#parts.stores.plans.noteRules(key, record.version, rules.version);
      return false;
    }
    await this.#candidates.change(key.accountId, key.id, (before, now) => replanned(before, rules, now));
    return true;
  }
}
