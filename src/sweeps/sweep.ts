/** Work that is due again and again and that any replica can do: taking away what time has made wrong or useless. */
export interface Sweep {
  /** For the log. */
  readonly name: string;
  /**
   * One pass over what is due; returns how many things it dealt with. It must be harmless to cut off anywhere and to run
   * again, and ends soon after the signal: within one operation of the store.
   */
  run(signal: AbortSignal): Promise<number>;
}
