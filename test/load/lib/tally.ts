import type { Outcome } from "./host.ts";

/** Requests of one key on one surface in one window. `offered` counts all of them except the `unknown` ones. */
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
  firstFault: string | undefined;

  add({ window, surface, key, verdict, fault }: Outcome): void {
    if (fault !== undefined) {
      this.failed++;
      this.firstFault ??= `${surface}: ${fault}`;
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

  /** The counts of a key on a surface in a window. Requests with an unknown verdict have no window. */
  of(window: number | undefined, surface: string, key: number): Counts {
    const name = `${window} ${surface} ${key}`;
    const found = this.#counts.get(name) ?? { offered: 0, admitted: 0, account: 0, key: 0, unknown: 0 };
    this.#counts.set(name, found);
    return found;
  }

  /** The counts of the first `keys` keys in a window. Requests with an unknown verdict count in every window. */
  inWindow(window: number, surface: string, keys: number): Counts[] {
    return Array.from({ length: keys }, (_, key) => ({
      ...this.of(window, surface, key),
      unknown: this.of(window, surface, key).unknown + this.of(undefined, surface, key).unknown,
    }));
  }
}
