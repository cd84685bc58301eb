import { setTimeout } from "node:timers/promises";

/** Wait before the first look for the candidate, in milliseconds. It doubles each time the candidate is missing. */
const FIRST_WAIT_MS = 250;
/**
 * Wait before the last look, in milliseconds. If the candidate is still missing then, the write was never sent: no
 * connection is kept open that long.
 */
const MAX_WAIT_MS = 64_000;

/**
 * Writes whose outcome is unknown. Their callers got a 503, but a hung server or a slow network may still apply them
 * later, at a place in the feed that readers have already passed. Once the store answers again, the candidate is
 * written again unchanged. That gives it a place that no reader has passed. It also gives it a new version, so that a
 * delayed replacement of the old version matches nothing. A candidate that is missing may still be inserted, so it is
 * looked for again for about two minutes.
 *
 * The list is in memory only: it is lost when the replica stops.
 */
export class UnsettledWrites {
  readonly #renew: (accountId: string, id: string) => Promise<boolean>;
  readonly #open = new Set<string>();

  /** @param renew writes a candidate again unchanged. Returns false if it is missing, throws if the store is down. */
  constructor(renew: (accountId: string, id: string) => Promise<boolean>) {
    this.#renew = renew;
  }

  /** Starts to settle a candidate's write, unless that is already in progress. */
  note({ accountId, id }: { accountId: string; id: string }): void {
    if (this.#open.has(id)) return;
    this.#open.add(id);
    void this.#settle(accountId, id).finally(() => this.#open.delete(id));
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
