import { setTimeout as wait } from "node:timers/promises";

/** Handles the items that come within a short time in one call. An item that comes alone does not wait. */
export class Gathered<Item> {
  readonly #gapMs: number;
  readonly #handle: (items: readonly Item[]) => Promise<void>;
  #next: { readonly items: Item[]; readonly handled: Promise<void> } | undefined;
  /** When the next call may begin, by `performance.now()`. */
  #nextAt = 0;

  /** @param gapMs from the beginning of one call to that of the next, in milliseconds. */
  constructor(gapMs: number, handle: (items: readonly Item[]) => Promise<void>) {
    this.#gapMs = gapMs;
    this.#handle = handle;
  }

  /** Resolves once the call that handles the item has ended. Throws what that call throws. */
  add(item: Item): Promise<void> {
    this.#next ??= this.#begin();
    this.#next.items.push(item);
    return this.#next.handled;
  }

  #begin(): { items: Item[]; handled: Promise<void> } {
    const items: Item[] = [];
    const waitMs = Math.max(0, this.#nextAt - performance.now());
    const handled = wait(waitMs).then(() => {
      this.#next = undefined;
      this.#nextAt = performance.now() + this.#gapMs;
      return this.#handle(items);
    });
    return { items, handled };
  }
}
