import { setImmediate } from "node:timers/promises";

/** Longest time that one piece of work keeps the event loop before others get a turn, in milliseconds. */
const STRETCH_MS = 10;

/**
 * Cuts long work into stretches. Call `isOver` after each small part of the work, and await `nextTurn` if it is:
 * meanwhile the event loop serves other requests. It measures elapsed time, so on a busy machine stretches are shorter.
 */
export class Stretch {
  #began = performance.now();

  isOver(): boolean {
    return performance.now() - this.#began > STRETCH_MS;
  }

  async nextTurn(): Promise<void> {
    await setImmediate();
    this.#began = performance.now();
  }
}
