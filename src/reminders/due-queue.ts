import type { CandidateKey } from "../candidates/record.ts";
import { grouped } from "../infra/grouped.ts";
import type { PlanStore } from "./plan-store.ts";

/** Maximum number of candidates that are read at once. */
const PAGE = 200;
/** Number of candidates in progress above which only accounts without any get more, SMALL_SHARE each. */
const MANY = 2_000;
const SMALL_SHARE = 10;

/**
 * The candidates with something to do, for one pass of the sender. Takes a share of each account, so that one with thousands
 * of reminders does not keep the others waiting. Reads few more than it takes, because a large read delays other requests.
 */
export class DueQueue {
  readonly #due: Pick<PlanStore, "due">;
  /** Ids of the candidates in progress, and of those that are left for the next pass. */
  readonly #taken = new Set<string>();
  /** Number of candidates in progress by account. */
  readonly #counts = new Map<string, number>();
  #size = 0;
  #resume = () => {};
  readonly #share: number;
  /** Number of candidates in progress at which an account gets more: the mail connections then still have work. */
  readonly #low: number;

  /** @param share number of candidates of one account that are handled at once. */
  constructor(due: Pick<PlanStore, "due">, share: number) {
    this.#due = due;
    this.#share = share;
    this.#low = Math.floor(share / 2);
  }

  /** Number of candidates in progress. */
  get size(): number {
    return this.#size;
  }

  /**
   * Takes more candidates, up to a share of each account, the longest due first. Returns none if no account may get more.
   * One round trip, and one more for each page of candidates that are all taken.
   * @param now RFC 3339.
   */
  async next(now: string): Promise<CandidateKey[]> {
    const [share, low] = this.#size < MANY ? [this.#share, this.#low] : [SMALL_SHARE, 0];
    const limit = this.#taken.size === 0 ? PAGE : Math.min(PAGE, this.#taken.size + share);
    const counts = Array.from(this.#counts);
    const passed = new Set(counts.filter(([, count]) => count > low).map(([accountId]) => accountId));
    for (;;) {
      const page = await this.#due.due(now, limit, [...passed]);
      const free = page.filter(({ id }) => !this.#taken.has(id));
      const groups = grouped(free, ({ accountId }) => accountId);
      const keys = Array.from(groups, ([accountId, own]) => own.slice(0, share - this.#countOf(accountId))).flat();
      for (const { accountId, id } of keys) {
        this.#taken.add(id);
        this.#size++;
        this.#counts.set(accountId, this.#countOf(accountId) + 1);
      }
      if (keys.length > 0 || page.length < limit) return keys;
      for (const { accountId } of page) passed.add(accountId);
    }
  }

  /** Ends the handling of a candidate. @param isLeft whether the pass leaves it as it is: then it is not taken again. */
  done({ accountId, id }: CandidateKey, isLeft: boolean): void {
    if (!isLeft) this.#taken.delete(id);
    this.#size--;
    const count = this.#countOf(accountId) - 1;
    if (count > 0) this.#counts.set(accountId, count);
    else this.#counts.delete(accountId);
    if (count === this.#low || this.#size === 0) this.#resume();
  }

  /** Resolves once an account may get more, or the last candidate in progress is done. For one caller. */
  room(): Promise<void> {
    return new Promise((resolve) => {
      this.#resume = resolve;
    });
  }

  #countOf(accountId: string): number {
    return this.#counts.get(accountId) ?? 0;
  }
}
