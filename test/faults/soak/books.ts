import type { Surface } from "../../../src/limiter/surfaces.ts";
import type { LogLine } from "../../support/processes.ts";
import { Ledger } from "../limiter/ledger.ts";
import { REDIS_KILLED, type Trouble } from "./mischief.ts";

/** Beyond a window's end, its last lines have come by now. */
const STRAGGLERS_MS = 8_000;
/** A fault may be felt so long after its end. */
const RECOVERY_MS = 2_500;

export interface Account {
  id: string;
  keys: readonly { id: string }[];
}

/** Windows are audited as they end and then forgotten, so that a soak may last for days. */
export class Books {
  /** Windows of one account and surface: all, those without a fault, those of them that were exhausted, exactly. */
  audited = 0;
  undisturbed = 0;
  exact = 0;
  admitted = 0;
  /** What broke a promise, in words. */
  readonly breaches: string[] = [];
  /** More admitted than the limit in a window in which Redis was killed: what its append-only file had not got yet. */
  readonly forgotten: string[] = [];
  readonly #lines = new Map<number, LogLine[]>();
  readonly #accounts: readonly Account[];
  readonly #surfaces: readonly Surface[];
  readonly #windowMs: number;

  constructor(accounts: readonly Account[], surfaces: readonly Surface[], windowSeconds: number) {
    this.#accounts = accounts;
    this.#surfaces = surfaces;
    this.#windowMs = windowSeconds * 1000;
  }

  /** Takes the lines over and audits the windows that are over at `now`; the first and the last are only begun, and left out. */
  enter(lines: LogLine[], troubles: readonly Trouble[], now: number): void {
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
      const during = troubles.filter(({ from, to }) => from <= end && to + RECOVERY_MS >= end - this.#windowMs);
      for (const account of this.#accounts) this.#audit(new Ledger(known, account, this.#surfaces), window, during);
    }
  }

  #audit(ledger: Ledger, window: number, during: readonly Trouble[]): void {
    const quiet = during.length === 0;
    const exhausted = this.#surfaces.filter((surface) => ledger.exhausted(surface, window));
    const breaches = quiet ? ledger.breaches() : ledger.excesses();
    const killed = during.some(({ what }) => what === REDIS_KILLED);
    (killed ? this.forgotten : this.breaches).push(...breaches);
    this.audited += this.#surfaces.length;
    if (quiet) this.undisturbed += this.#surfaces.length;
    if (quiet && breaches.length === 0) this.exact += exhausted.length;
    this.admitted += this.#surfaces.reduce((sum, surface) => sum + ledger.admitted({ surface }, window).length, 0);
  }
}
