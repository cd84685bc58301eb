import type { Usage } from "../../../src/limiter/usage.ts";
import { limitsOf, type Surface } from "../../../src/limiter/surfaces.ts";
import type { LogLine } from "../../support/processes.ts";

/** What a replica logged of one request. */
export interface Entry extends LogLine {
  /** When it was decided at the latest: its answer has gone out. ISO 8601, in milliseconds. */
  time: string;
  /** From its first byte to then. */
  ms: number;
  /** What kept it from being decided. */
  error?: { message: string };
}

/** One limit of one account: its own, or a key's. */
export interface Counter {
  readonly surface: Surface;
  /** The key's id; none for the account's. */
  readonly keyId?: string;
}

/** What an account's requests came to, as its replicas logged them. */
export class Ledger {
  readonly entries: readonly Entry[];
  readonly counters: readonly Counter[];
  readonly #limits: typeof limitsOf;

  /** @param limits what whoever wrote these lines may admit. */
  constructor(
    log: readonly LogLine[],
    account: { id: string; keys: readonly { id: string }[] },
    surfaces: readonly Surface[],
    limits = limitsOf,
  ) {
    this.#limits = limits;
    this.entries = log.filter(isEntry).filter((entry) => entry.account === account.id);
    this.counters = surfaces.flatMap((surface) => [
      { surface },
      ...account.keys.map(({ id }) => ({ surface, keyId: id })),
    ]);
  }

  /** Admissions that a counter should have counted in a window. */
  admitted({ surface, keyId }: Counter, window: number): Entry[] {
    return this.#in({ surface, ...(keyId !== undefined && { keyId }) }, window).filter(
      ({ verdict }) => verdict === "admitted",
    );
  }

  /**
   * Everything that breaks the promises, in words: more admitted than the limit, less where something was refused, a refusal
   * before the limit was reached.
   * @param drift what is known to be amiss with a counter: admissions that Redis forgot, or (negative) charges of requests that
   * were answered 503. With it the counts must still fit exactly.
   */
  breaches(drift: (counter: Counter, window: number) => number = () => 0): string[] {
    return this.counters.flatMap((counter) =>
      this.windows().flatMap((window) => this.#breaches(counter, window, drift(counter, window))),
    );
  }

  /** Those of them that no fault excuses: more admitted than the limit. */
  excesses(): string[] {
    return this.counters.flatMap((counter) => this.windows().flatMap((window) => this.#excess(counter, window, 0)));
  }

  /** Whether the account's limit of a surface was reached and refused in a window. */
  exhausted(surface: Surface, window: number): boolean {
    return this.#in({ surface }, window).some(({ verdict }) => verdict === "account_exhausted");
  }

  windows(): number[] {
    return [...new Set(this.entries.flatMap(({ window }) => window ?? []))].toSorted((a, b) => a - b);
  }

  #breaches(counter: Counter, window: number, drift: number): string[] {
    const excess = this.#excess(counter, window, drift);
    if (excess.length > 0) return excess;
    const { surface, keyId } = counter;
    const exhausted = keyId === undefined ? "account_exhausted" : "key_exhausted";
    const refused = this.#in(counter, window).filter(({ verdict }) => verdict === exhausted);
    if (refused.length === 0) return [];
    const limit = this.#limitOf(counter) + drift;
    const admitted = this.admitted(counter, window);
    const name = `${surface} of ${keyId ?? "the account"} in window ${window}`;
    if (admitted.length < limit) return [`${name}: refused though only ${admitted.length} were admitted of ${limit}`];
    // The last one that fitted in must have been on its way when the first was refused.
    const last = admitted.map(startOf).toSorted((a, b) => a - b)[limit - 1] ?? 0;
    const early = drift === 0 ? refused.filter((entry) => Date.parse(entry.time) < last - CLOCK_MS) : [];
    return early.length === 0 ? [] : [`${name}: ${early.length} refused before it was exhausted`];
  }

  #excess(counter: Counter, window: number, drift: number): string[] {
    const { surface, keyId } = counter;
    const limit = this.#limitOf(counter) + drift;
    const { length } = this.admitted(counter, window);
    return length > limit
      ? [`${surface} of ${keyId ?? "the account"} in window ${window}: ${length} admitted of ${limit}`]
      : [];
  }

  #limitOf({ surface, keyId }: Counter): number {
    const limits = this.#limits(surface, 1);
    return keyId === undefined ? limits.account : limits.key;
  }

  #in({ surface, keyId }: Counter, window: number): Entry[] {
    return this.entries.filter(
      (entry) =>
        entry.surface === surface && entry.window === window && (keyId === undefined || entry.key_id === keyId),
    );
  }
}

/** The log's times are whole milliseconds. */
const CLOCK_MS = 2;

/** What Redis has counted of a counter, from the usage of each key. */
export function counted({ surface, keyId }: Counter, usages: ReadonlyMap<string, Usage>): number {
  const usage = keyId === undefined ? [...usages.values()][0] : usages.get(keyId);
  const used = usage?.surfaces.find((each) => each.surface === surface);
  if (used === undefined) throw new Error(`Nobody asked for the usage of ${keyId ?? "the account"}.`);
  return keyId === undefined ? used.account.used : used.key.used;
}

function startOf({ time, ms }: Entry): number {
  return Date.parse(time) - ms;
}

function isEntry(line: LogLine): line is Entry {
  return "ms" in line && "time" in line;
}
