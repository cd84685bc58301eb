import type { Surface } from "../../../src/limiter/surfaces.ts";
import type { LogLine } from "../../support/processes.ts";
import { Ledger } from "../limiter/ledger.ts";
import { REDIS_KILLED, type InjectedFault } from "./fault-injector.ts";

/** Time after a window's end by which all its log lines have arrived. */
const STRAGGLERS_MS = 8_000;
/** Time after its end during which a fault may still have an effect. */
const RECOVERY_MS = 2_500;

export interface Account {
  id: string;
  keys: readonly { id: string }[];
}

/** Audits each window after its end and then discards its log lines, so that a soak can run for days. */
export class Books {
  /** Number of audited windows, each of one account and surface. */
  audited = 0;
  /** Number of windows without a fault that were exhausted and admitted exactly the limit. */
  exact = 0;
  /**
   * Describes each violation of the limits, except in windows in which Redis was killed: it lost what was not in its append-only
   * file yet.
   */
  readonly breaches: string[] = [];
  readonly #lines = new Map<number, LogLine[]>();
  readonly #accounts: readonly Account[];
  readonly #surfaces: readonly Surface[];
  readonly #windowMs: number;

  constructor(accounts: readonly Account[], surfaces: readonly Surface[], windowSeconds: number) {
    this.#accounts = accounts;
    this.#surfaces = surfaces;
    this.#windowMs = windowSeconds * 1000;
  }

  /** Moves the lines out of `lines`, and audits the windows whose lines are complete at `now`. */
  enter(lines: LogLine[], faults: readonly InjectedFault[], now: number): void {
    for (const line of lines.splice(0)) {
      if (line.window === undefined) continue;
      const known = this.#lines.get(line.window);
      if (known === undefined) this.#lines.set(line.window, [line]);
      else known.push(line);
    }
    for (const [window, known] of this.#lines) {
      const end = (window + 1) * this.#windowMs;
      if (end + STRAGGLERS_MS > now) continue;
      this.#lines.delete(window);
      const during = faults.filter(({ from, to }) => from <= end && to + RECOVERY_MS >= end - this.#windowMs);
      for (const account of this.#accounts) this.#audit(new Ledger(known, account, this.#surfaces), window, during);
    }
  }

  #audit(ledger: Ledger, window: number, during: readonly InjectedFault[]): void {
    const quiet = during.length === 0;
    const exhausted = this.#surfaces.filter((surface) => ledger.exhausted(surface, window));
    const breaches = quiet ? ledger.breaches() : ledger.excesses();
    const killed = during.some(({ what }) => what === REDIS_KILLED);
    if (!killed) this.breaches.push(...breaches);
    this.audited += this.#surfaces.length;
    if (quiet && breaches.length === 0) this.exact += exhausted.length;
  }
}
