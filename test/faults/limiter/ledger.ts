import type { Usage } from "../../../src/limiter/usage.ts";
import { limitsOf, type Surface } from "../../../src/limiter/surfaces.ts";
import type { LogLine } from "../../support/processes.ts";

/** A replica's log line for one request. */
export interface Entry extends LogLine {
  /** When its response was sent, which is after it was decided. ISO 8601 with milliseconds. */
  time: string;
  /** Milliseconds from the request's first byte to `time`. */
  ms: number;
  endpoint?: string;
  /** Why it could not be decided. */
  error?: { message: string };
}

/** The counter of an account or of one of its keys on one surface. */
export interface Counter {
  readonly surface: Surface;
  /** The key's id; absent for the account's counter. */
  readonly keyId?: string;
}

/** When a client sent a request and had its response, by its `performance.now()`. */
export interface Times {
  readonly sent: number;
  readonly answered: number;
}

export interface LedgerOptions {
  /** The limits that apply to the replicas that wrote the log. */
  readonly limits?: typeof limitsOf;
  /** The clients' times of the requests, by their ids. Without them, no refusal is found to be too early. */
  readonly times?: ReadonlyMap<string, Times>;
}

/** The outcomes of an account's requests, as the replicas logged them. */
export class Ledger {
  readonly entries: readonly Entry[];
  readonly counters: readonly Counter[];
  readonly #limits: typeof limitsOf;
  readonly #times: ReadonlyMap<string, Times>;

  constructor(
    log: readonly LogLine[],
    account: { id: string; keys: readonly { id: string }[] },
    surfaces: readonly Surface[],
    { limits = limitsOf, times = new Map() }: LedgerOptions = {},
  ) {
    this.#limits = limits;
    this.#times = times;
    this.entries = log.filter(isEntry).filter((entry) => entry.account === account.id);
    this.counters = surfaces.flatMap((surface) => [
      { surface },
      ...account.keys.map(({ id }) => ({ surface, keyId: id })),
    ]);
  }

  /** Returns the admissions that a counter should have counted in a window. */
  admitted({ surface, keyId }: Counter, window: number): Entry[] {
    return this.#in({ surface, ...(keyId !== undefined && { keyId }) }, window).filter(
      ({ verdict }) => verdict === "admitted",
    );
  }

  /**
   * Describes every breach of the limits: more admissions than the limit, fewer although a request was refused, and a
   * refusal before the limit was reached.
   * @param drift the known error of a counter: admissions that Redis lost, or (negative) charges of requests that were
   * answered 503. It is added to the limit, and the result must be met exactly.
   * @param unknown requests that were answered 503 after that error was measured. Each may have been charged, so a limit
   * may end that many admissions sooner.
   */
  breaches({
    drift = () => 0,
    unknown = [],
  }: { drift?: (counter: Counter, window: number) => number; unknown?: readonly Entry[] } = {}): string[] {
    return this.counters.flatMap((counter) => {
      const charged = unknown.filter((entry) => counts(counter, entry)).length;
      return this.windows().flatMap((window) => this.#breaches(counter, window, drift(counter, window), charged));
    });
  }

  /** Describes only the breaches that no fault excuses: more admissions than the limit. */
  excesses(): string[] {
    return this.counters.flatMap((counter) => this.windows().flatMap((window) => this.#excess(counter, window, 0)));
  }

  /** Returns true if a request was refused in a window because the account's limit of the surface was exhausted. */
  exhausted(surface: Surface, window: number): boolean {
    return this.#in({ surface }, window).some(({ verdict }) => verdict === "account_exhausted");
  }

  windows(): number[] {
    return [...new Set(this.entries.flatMap(({ window }) => window ?? []))].toSorted((a, b) => a - b);
  }

  #breaches(counter: Counter, window: number, drift: number, unknown: number): string[] {
    const excess = this.#excess(counter, window, drift);
    if (excess.length > 0) return excess;
    const { surface, keyId } = counter;
    const exhausted = keyId === undefined ? "account_exhausted" : "key_exhausted";
    const refused = this.#in(counter, window).filter(({ verdict }) => verdict === exhausted);
    if (refused.length === 0) return [];
    const limit = this.#limitOf(counter) + drift;
    const admitted = this.admitted(counter, window);
    const name = `${surface} of ${keyId ?? "the account"} in window ${window}`;
    if (admitted.length < limit - unknown)
      return [`${name}: requests were refused after only ${admitted.length} of ${limit} admissions`];
    // When the first refusal was received, the last admitted request must already have been sent. The replicas' logs cannot
    // tell: the machine may keep a process waiting between the two moments that make a line's `time` and `ms`.
    const sentAt = ({ request_id }: Entry) => this.#times.get(request_id ?? "")?.sent ?? -Infinity;
    const answeredAt = ({ request_id }: Entry) => this.#times.get(request_id ?? "")?.answered ?? Infinity;
    const last = admitted.map(sentAt).toSorted((a, b) => a - b)[limit - 1] ?? -Infinity;
    const early = drift === 0 && unknown === 0 ? refused.filter((entry) => answeredAt(entry) < last) : [];
    return early.length === 0 ? [] : [`${name}: ${early.length} requests were refused before the limit was reached`];
  }

  #excess(counter: Counter, window: number, drift: number): string[] {
    const { surface, keyId } = counter;
    const limit = this.#limitOf(counter) + drift;
    const { length } = this.admitted(counter, window);
    return length > limit
      ? [
          `${surface} of ${keyId ?? "the account"} in window ${window}: ${length} requests were admitted, the limit is ${limit}`,
        ]
      : [];
  }

  #limitOf({ surface, keyId }: Counter): number {
    const limits = this.#limits(surface, 1);
    return keyId === undefined ? limits.account : limits.key;
  }

  #in(counter: Counter, window: number): Entry[] {
    return this.entries.filter((entry) => entry.window === window && counts(counter, entry));
  }
}

/** Returns the value of a counter in Redis, taken from the usage of each key. */
export function counted({ surface, keyId }: Counter, usages: ReadonlyMap<string, Usage>): number {
  const usage = keyId === undefined ? [...usages.values()][0] : usages.get(keyId);
  const used = usage?.surfaces.find((each) => each.surface === surface);
  if (used === undefined) throw new Error(`The usage of ${keyId ?? "the account"} was not read.`);
  return keyId === undefined ? used.account.used : used.key.used;
}

/** The log line of a 503 has no surface, because nothing was decided. */
const SURFACE_OF = new Map<string | undefined, Surface>([
  ["createCandidate", "create"],
  ["listCandidates", "list"],
  ["startCandidate", "start"],
]);

function counts({ surface, keyId }: Counter, entry: Entry): boolean {
  const charged = entry.surface ?? SURFACE_OF.get(entry.endpoint);
  return charged === surface && (keyId === undefined || entry.key_id === keyId);
}

function isEntry(line: LogLine): line is Entry {
  return "ms" in line && "time" in line;
}
