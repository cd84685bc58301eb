/**
 * A time limit that does not count the time in which this process stands still: stopped, blocked, or without a CPU. Node
 * runs timers before it reads the sockets, so a plain timer gives up on replies that have arrived.
 *
 * The limit is counted in ticks. One that ends late counts as two at most, so that after a standstill of any length there is
 * time to read the sockets, and to ask once more. The sockets are read before `over` is called.
 */
export class TimeLimit {
  readonly #ms: number;
  readonly #tickMs: number;
  readonly #over: () => void;
  #leftMs: number;
  #tickBegan = 0;
  #timer: NodeJS.Timeout | undefined;
  #reading: NodeJS.Immediate | undefined;

  /**
   * @param over is called after `ms` milliseconds, unless the limit was cleared or restarted.
   * @param ticks a standstill counts as two of these at most. Each costs a timer while the limit runs.
   */
  constructor(ms: number, over: () => void, ticks = 10) {
    this.#ms = this.#leftMs = ms;
    this.#tickMs = ms / ticks;
    this.#over = over;
    this.#wait();
  }

  /** Minimum time until the limit is over, in milliseconds. */
  get leftMs(): number {
    return Math.max(0, this.#leftMs - Math.min(performance.now() - this.#tickBegan, 2 * this.#tickMs));
  }

  /** Begins again with the whole time, even if the limit is over. */
  restart(): void {
    this.#leftMs = this.#ms;
    this.#tickBegan = performance.now();
    if (this.#reading === undefined) return; // the tick that runs goes on
    clearImmediate(this.#reading);
    this.#reading = undefined;
    this.#wait();
  }

  clear(): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#reading);
  }

  #wait(): void {
    this.#tickBegan = performance.now();
    const end = (): void => {
      this.#leftMs = this.leftMs;
      if (this.#leftMs > 0) this.#wait();
      else this.#reading = setImmediate(this.#over);
    };
    this.#timer = setTimeout(end, Math.min(this.#leftMs, this.#tickMs));
  }
}
