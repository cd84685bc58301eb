import type { Outcome } from "./host.ts";

/** Requests of one key on one surface in one window. `offered` is those that got a certain verdict: all but `unknown`. */
export interface Counts {
  offered: number;
  admitted: number;
  account: number;
  key: number;
  unknown: number;
}

/** Counts the outcomes by window, surface and key. */
export class Tally {
  readonly #counts = new Map<string, Counts>();
  readonly #windows = new Set<number>();
  failed = 0;
  /** A few of the faults, for people. */
  readonly faults: string[] = [];

  add({ window, surface, key, verdict, fault }: Outcome): void {
    if (fault !== undefined) {
      this.failed++;
      if (this.faults.length < 10) this.faults.push(`${surface}: ${fault}`);
    }
    if (verdict === "free" || verdict === "rejected") return;
    if (window !== undefined) this.#windows.add(window);
    const counts = this.of(window, surface, key);
    counts[verdict]++;
    if (verdict !== "unknown") counts.offered++;
  }

  /** The windows in which answers came, in order. */
  get windows(): number[] {
    return [...this.#windows].toSorted((a, b) => a - b);
  }

  /** The counts of a key on a surface in a window. Those with an unknown verdict have no window. */
  of(window: number | undefined, surface: string, key: number): Counts {
    const name = `${window} ${surface} ${key}`;
    const found = this.#counts.get(name) ?? { offered: 0, admitted: 0, account: 0, key: 0, unknown: 0 };
    this.#counts.set(name, found);
    return found;
  }

  /** The counts of each of `keys` keys in a window. What has no window could belong to any, so it is in all of them. */
  inWindow(window: number, surface: string, keys: number): Counts[] {
    return Array.from({ length: keys }, (_, key) => ({
      ...this.of(window, surface, key),
      unknown: this.of(window, surface, key).unknown + this.of(undefined, surface, key).unknown,
    }));
  }
}
