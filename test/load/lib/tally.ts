import type { Outcome } from "./host.ts";

/** Requests of one key on one surface in one window. `offered` counts all of them except the `unknown` ones. */
export interface Counts {
  readonly offered: number;
  readonly admitted: number;
  readonly account: number;
  readonly key: number;
  readonly unknown: number;
}

type Seen = Omit<Outcome, "answer"> & { readonly ms: number };

const COLUMNS = ["surface", "sent", "admitted", "by account", "by key", "failed", "p50 ms", "p99 ms"];

/** Keeps the outcomes of a run, and counts them. */
export class Tally {
  readonly #seen: Seen[] = [];

  add({ surface, key, verdict, window, fault, answer: { ms } }: Outcome): void {
    this.#seen.push({ surface, key, verdict, window, fault, ms });
  }

  get sent(): number {
    return this.#seen.length;
  }

  /** What was wrong with answers, in words. */
  get faults(): string[] {
    return this.#seen.flatMap(({ surface, fault }) => (fault === undefined ? [] : [`${surface}: ${fault}`]));
  }

  /** The windows in which charged requests were answered, in order. */
  get windows(): number[] {
    return [...new Set(this.#seen.flatMap(({ window }) => window ?? []))].toSorted((a, b) => a - b);
  }

  /** The counts of the first `keys` keys in a window. Requests with an unknown verdict count in every window. */
  inWindow(window: number, surface: string, keys: number): Counts[] {
    const own = this.#seen.filter((seen) => seen.surface === surface && (seen.window ?? window) === window);
    return Array.from({ length: keys }, (_, index) => {
      const count = (wanted: Outcome["verdict"]): number =>
        own.filter(({ key, verdict }) => key === index && verdict === wanted).length;
      const [admitted, account, key] = [count("admitted"), count("account"), count("key")];
      return { offered: admitted + account + key, admitted, account, key, unknown: count("unknown") };
    });
  }

  /** The time in milliseconds within which this share of all answers came. */
  percentile(share: number, of: readonly { readonly ms: number }[] = this.#seen): number {
    const times = of.map(({ ms }) => ms).toSorted((a, b) => a - b);
    return times[Math.ceil(times.length * share) - 1] ?? NaN;
  }

  /** All counts and times by surface, as lines of text. */
  table(): string[] {
    const names = [...new Set(this.#seen.map(({ surface }) => surface))];
    const row = (name: string, seen: readonly Seen[]): string[] => {
      const counts = (["admitted", "account", "key"] as const).map(
        (wanted) => seen.filter(({ verdict }) => verdict === wanted).length,
      );
      const failed = seen.filter(({ fault }) => fault !== undefined).length;
      const times = [0.5, 0.99].map((share) => this.percentile(share, seen).toFixed(1));
      return [name, ...[seen.length, ...counts, failed].map(String), ...times];
    };
    const rows = names.map((name) =>
      row(
        name,
        this.#seen.filter(({ surface }) => surface === name),
      ),
    );
    return [COLUMNS, ...rows, row("all", this.#seen)].map((cells) => cells.map((cell) => cell.padStart(11)).join(""));
  }
}
