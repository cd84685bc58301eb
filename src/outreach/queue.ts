import type { ChaseStore } from "../candidates/chase-store.ts";
import type { CandidateKey } from "../candidates/reader.ts";

const PAGE = 100;
/** Candidates of one account in a batch. */
const SHARE = 20;
/** Round trips that a batch may take. */
const MAX_PAGES = 10;

/**
 * The candidates with something to do. Takes the accounts in turn, so that one with thousands of reminders does not keep
 * the others waiting.
 */
export class DueQueue {
  readonly #due: Pick<ChaseStore, "due">;
  /** The accounts that have had their share, while others have not. */
  readonly #served = new Set<string>();

  constructor(due: Pick<ChaseStore, "due">) {
    this.#due = due;
  }

  /**
   * Returns the next batch, at most SHARE candidates of each account, the longest due first. Empty only if nothing is
   * due. One round trip, and one more for each time that accounts with a whole share fill a page.
   * @param now RFC 3339.
   */
  async next(now: string): Promise<CandidateKey[]> {
    const isContinued = this.#served.size > 0;
    const lists: CandidateKey[][] = [];
    for (let page = 1; ; page++) {
      const found = await this.#due.due(now, PAGE, [...this.#served]);
      const groups = groupedByAccount(found);
      const filled = [...groups].filter(([, keys]) => keys.length >= SHARE);
      for (const [accountId] of filled) this.#served.add(accountId);
      if (found.length < PAGE) this.#served.clear(); // nobody else waits
      if (found.length < PAGE || filled.length === 0 || page === MAX_PAGES) {
        lists.push(...groups.values());
        break;
      }
      lists.push(...filled.map(([, keys]) => keys));
    }
    if (lists.length === 0 && isContinued) return this.next(now);
    return inTurn(lists);
  }
}

function groupedByAccount(keys: readonly CandidateKey[]): Map<string, CandidateKey[]> {
  const groups = new Map<string, CandidateKey[]>();
  for (const key of keys) {
    const group = groups.get(key.accountId);
    if (group === undefined) groups.set(key.accountId, [key]);
    else group.push(key);
  }
  return groups;
}

/** Takes the first of each list, then the second of each, and so on, up to SHARE. */
function inTurn<Item>(lists: readonly (readonly Item[])[]): Item[] {
  return Array.from({ length: SHARE }, (_, n) => lists.flatMap((list) => list.slice(n, n + 1))).flat();
}
