import type { CandidateKey } from "../candidates/record.ts";
import { grouped } from "../infra/grouped.ts";
import type { PlanStore } from "./plan-store.ts";

/** Maximum number of candidates that are read at once. */
const PAGE = 200;
/** Number of candidates in progress above which only accounts without any get more, SMALL_SHARE each. */
const MANY = 2_000;
const SMALL_SHARE = 10;

export type DueQueue = ReturnType<typeof dueQueue>;

/**
 * The candidates with something to do, for one pass of the sender. Takes a share of each account, so that one with thousands
 * of reminders does not keep the others waiting. Reads few more than it takes, because a large read delays other requests.
 * @param maxShare number of candidates of one account that are handled at once.
 */
export function dueQueue(store: Pick<PlanStore, "due">, maxShare: number) {
  /** Ids of the candidates in progress, and of those that are left for the next pass. */
  const taken = new Set<string>();
  /** Number of candidates in progress by account. */
  const counts = new Map<string, number>();
  /** Number of candidates in progress. */
  let size = 0;
  let resume = () => {};
  /** An account gets more once so few of its candidates are in progress: the mail connections then still have work. */
  const minShare = Math.floor(maxShare / 2);
  const countOf = (accountId: string) => counts.get(accountId) ?? 0;

  /**
   * Takes more candidates, up to a share of each account, the longest due first. Returns none if no account may get more.
   * One round trip, and one more for each page of candidates that are all taken.
   * @param now RFC 3339.
   */
  async function next(now: string): Promise<CandidateKey[]> {
    const [share, low] = size < MANY ? [maxShare, minShare] : [SMALL_SHARE, 0];
    const limit = taken.size === 0 ? PAGE : Math.min(PAGE, taken.size + share);
    const busy = Array.from(counts).filter(([, count]) => count > low);
    const passed = new Set(busy.map(([accountId]) => accountId));
    for (;;) {
      const page = await store.due(now, limit, [...passed]);
      const free = page.filter(({ id }) => !taken.has(id));
      const groups = grouped(free, ({ accountId }) => accountId);
      const keys = Array.from(groups, ([accountId, own]) => own.slice(0, share - countOf(accountId))).flat();
      for (const { accountId, id } of keys) {
        taken.add(id);
        size++;
        counts.set(accountId, countOf(accountId) + 1);
      }
      if (keys.length > 0 || page.length < limit) return keys;
      for (const { accountId } of page) passed.add(accountId);
    }
  }

  /** Ends the handling of a candidate. @param isLeft whether the pass leaves it as it is: then it is not taken again. */
  function done({ accountId, id }: CandidateKey, isLeft: boolean): void {
    if (!isLeft) taken.delete(id);
    size--;
    const count = countOf(accountId) - 1;
    if (count > 0) counts.set(accountId, count);
    else counts.delete(accountId);
    if (count === minShare || size === 0) resume();
  }

  /** Resolves once an account may get more, or the last candidate in progress is done. For one caller. */
  const room = () => new Promise<void>((resolve) => (resume = resolve));

  return { next, done, room, size: () => size };
}
