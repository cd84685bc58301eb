import { setTimeout } from "node:timers/promises";
import { isDuplicateKey } from "../infra/mongo.ts";

/** Wait before the first look for the candidate, in milliseconds. It doubles each time the candidate is missing. */
const FIRST_WAIT_MS = 250;
/**
 * Wait before the last look, in milliseconds. If the candidate is still missing then, the write was never sent: no
 * connection is kept open that long.
 */
const MAX_WAIT_MS = 64_000;

interface Candidate {
  readonly accountId: string;
  readonly id: string;
}

/**
 * Writes that have their place in the feed and may not be visible yet: those under way, and those whose outcome is
 * unknown. Callers of these got a 503, but a hung server or a slow network may still apply them later, at a place
 * in the feed that readers have already passed. Once the store answers again, the candidate is written again unchanged.
 * That gives it a place that no reader has passed. It also gives it a new version, so that a delayed replacement of the
 * old version matches nothing. A candidate that is missing may still be inserted, so it is looked for again for about
 * two minutes.
 *
 * The list is in memory only: it is lost when the replica stops. Times are those of `performance.now()`.
 */
export class OpenWrites {
  readonly #renew: (accountId: string, id: string) => Promise<boolean>;
  readonly #underWay = new Set<{ placedAt: number }>();
  /** When each unsettled write took its place. Keys are candidate ids. */
  readonly #unsettled = new Map<string, number>();

  /** @param renew writes a candidate again unchanged. Returns false if it is missing, throws if the store is down. */
  constructor(renew: (accountId: string, id: string) => Promise<boolean>) {
    this.#renew = renew;
  }

  /** The age of the oldest of these writes in milliseconds, 0 if there is none; and how many are unsettled. */
  state(): { lagMs: number; unsettled: number } {
    const now = performance.now();
    const [first] = this.#underWay; // both are in the order in which they were added
    const [oldest = now] = this.#unsettled.values();
    return { lagMs: now - Math.min(oldest, first?.placedAt ?? now), unsettled: this.#unsettled.size };
  }

  /** Runs the write of a candidate that took its place at `placedAt`. If its outcome is unknown, settles it later. */
  async during<T>(candidate: Candidate, placedAt: number, write: () => Promise<T>): Promise<T> {
    const entry = { placedAt };
    this.#underWay.add(entry);
    try {
      return await write();
    } catch (error) {
      if (!isDuplicateKey(error)) this.settleLater(candidate, placedAt);
      throw error;
    } finally {
      this.#underWay.delete(entry);
    }
  }

  /** Starts to settle a candidate's write, unless that is already in progress. */
  settleLater({ accountId, id }: Candidate, placedAt: number): void {
    if (this.#unsettled.has(id)) return;
    this.#unsettled.set(id, placedAt);
    void this.#settle(accountId, id).finally(() => this.#unsettled.delete(id));
  }

  async #settle(accountId: string, id: string): Promise<void> {
    for (let wait = FIRST_WAIT_MS; wait <= MAX_WAIT_MS;) {
      await setTimeout(wait, undefined, { ref: false });
      const renewed = await this.#renew(accountId, id).catch(() => undefined);
      if (renewed === true) return;
      if (renewed === false) wait *= 2; // an unanswered look does not count
    }
  }
}
