import { setImmediate } from "node:timers/promises";

/** Maximum time that one piece of work keeps the event loop, in milliseconds. */
const MAX_MS = 10;

/** Cuts long work into slices: await `next` whenever `isOver` says so, and the event loop serves other requests. */
export class TimeSlice {
  #began = performance.now();

  isOver(): boolean {
    return performance.now() - this.#began > MAX_MS;
  }

  async next(): Promise<void> {
    await setImmediate();
    this.#began = performance.now();
  }
}
