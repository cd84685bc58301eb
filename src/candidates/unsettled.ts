import { setTimeout } from "node:timers/promises";

/** The first look is so soon after the write was given up, and each look finds the next one twice as far away; in milliseconds. */
const FIRST_LOOK_MS = 250;
/** A write that has not turned up after this, with the store answering, was never sent: no connection is kept alive longer. */
const LAST_LOOK_MS = 64_000;

/**
 * Writes whose end is not known: their callers were answered 503, and a server that hung or a slow wire may carry them out
 * later, with a place in the feed that readers have long passed. So once the store answers again, such a candidate is written
 * anew as it is: it gets a place that nobody has passed, and, as that is another version, a write that is still on its way
 * finds nothing to replace. One that is not there may be on its way in, so it is looked for, for two minutes.
 *
 * Held in memory only: what a replica was looking for when it ends is not looked for any more.
 */
export class Unsettled {
  readonly #renew: (accountId: string, id: string) => Promise<boolean>;
  readonly #open = new Set<string>();

  /** @param renew writes a candidate anew; false where there is none, and it throws where the store does not answer. */
  constructor(renew: (accountId: string, id: string) => Promise<boolean>) {
    this.#renew = renew;
  }

  /** Begins to look after a candidate, if that has not begun already. */
  note({ accountId, id }: { accountId: string; id: string }): void {
    if (this.#open.has(id)) return;
    this.#open.add(id);
    void this.#settle(accountId, id).finally(() => this.#open.delete(id));
  }

  async #settle(accountId: string, id: string): Promise<void> {
    for (let wait = FIRST_LOOK_MS; wait <= LAST_LOOK_MS;) {
      await setTimeout(wait, undefined, { ref: false });
      const renewed = await this.#renew(accountId, id).catch(() => undefined);
      if (renewed === true) return;
      if (renewed === false) wait *= 2; // a look that was not answered does not count
    }
  }
}
