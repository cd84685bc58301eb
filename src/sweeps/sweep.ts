/** Recurring work that any replica can do: it updates or removes what has become outdated with time. */
export interface Sweep {
  /** For the log and the metrics: lower-case words, joined by underscores. */
  readonly name: string;
  /**
   * Makes one pass over what is due, and returns how many items it handled. It must be safe to interrupt anywhere and
   * to run again. It must end soon after the signal: within one operation of the store.
   */
  run(signal: AbortSignal): Promise<number>;
}
