import pLimit from "p-limit";
import { planned } from "../candidates/outreach.ts";
import type { CandidateKey } from "../candidates/record.ts";
import type { CandidateStore } from "../candidates/store.ts";
import type { Clock } from "../infra/clock.ts";
import { isGone } from "../problems.ts";
import { type ReminderAccountStore, SETTLED_MS } from "./account-store.ts";
import { replanned } from "./edits.ts";
import type { PlanStore } from "./plan-store.ts";
import { plannerOf, type ReminderRules } from "./plan.ts";
import type { RulesReader } from "./rules.ts";

const MAX_ACCOUNTS = 1_000;
const BATCH = 100;
/** Candidates of one account that one pass plans, so that the other accounts do not wait long. */
const SHARE = 1_000;
const AT_ONCE = 10;
interface Dependencies {
  readonly store: Pick<CandidateStore, "change" | "get">;
  readonly plans: Pick<PlanStore, "plannedOtherwise" | "noteRules">;
  readonly accounts: Pick<ReminderAccountStore, "changed" | "settled">;
  readonly rules: Pick<RulesReader, "fresh">;
  readonly clock: Clock;
}

/** Plans the chase of an account's candidates anew after its settings have changed. */
export class Replanner {
  readonly #dependencies: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Makes one pass. Returns how many candidates have another plan.
   * @throws AggregateError with the failure of each account. The others are handled all the same.
   */
  async run(signal: AbortSignal): Promise<number> {
    const { accounts, clock } = this.#dependencies;
    const failures: unknown[] = [];
    let count = 0;
    for (const { accountId, changedAt } of await accounts.changed(MAX_ACCOUNTS)) {
      if (signal.aborted) return count;
      // Looked at before the plans: a write that ends later follows rules that were read later.
      const isOld = clock.now() > Date.parse(changedAt) + SETTLED_MS;
      try {
        const { changed, isDone } = await this.#replan(accountId, signal);
        count += changed;
        if (isOld && isDone) await accounts.settled(accountId, changedAt);
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, `${failures.length} accounts failed`);
    return count;
  }

  /** Plans candidates of one account, at most SHARE. `isDone` if none is left. */
  async #replan(accountId: string, signal: AbortSignal): Promise<{ changed: number; isDone: boolean }> {
    const { rules, plans } = this.#dependencies;
    const atOnce = pLimit(AT_ONCE);
    let changed = 0;
    for (let handled = 0; handled < SHARE && !signal.aborted; handled += BATCH) {
      const { rules: current } = await rules.fresh(accountId); // each time: they may change meanwhile
      const keys = await plans.plannedOtherwise(accountId, current.version, BATCH);
      const planned = await Promise.all(keys.map((key) => atOnce(() => !signal.aborted && this.#plan(key, current))));
      changed += planned.filter(Boolean).length;
      if (keys.length < BATCH) return { changed, isDone: !signal.aborted };
    }
    return { changed, isDone: false };
  }

  /** Plans one candidate. Returns whether that changed what the API shows, or when the sender looks at it. */
  async #plan(key: CandidateKey, rules: ReminderRules): Promise<boolean> {
    const { store, plans, clock } = this.#dependencies;
    try {
      const record = await store.get(key.accountId, key.id);
      const { outreach } = planned(record, plannerOf(rules), clock.now());
      if (JSON.stringify({ ...record.outreach, rules: rules.version }) === JSON.stringify(outreach)) {
        await plans.noteRules(key, record.version, rules.version);
        return false;
      }
      await store.change(key.accountId, key.id, (before, now) => replanned(before, rules, now));
      return true;
    } catch (error) {
      if (isGone(error)) return false; // it was erased
      throw error;
    }
  }
}
