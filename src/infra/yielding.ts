import { setImmediate } from "node:timers/promises";

/** Longest stretch of work without a pause, in milliseconds. */
const STRETCH_MS = 10;

/** Divides long work into stretches, so that other requests get the event loop in between. */
export class Yielding {
  #begun = performance.now();

  /** Call it between two steps of the work. It pauses if the present stretch has lasted 10 ms. */
  async pause(): Promise<void> {
    if (performance.now() - this.#begun < STRETCH_MS) return;
    await setImmediate();
    this.#begun = performance.now();
  }
}
