import type { Limits } from "../../../limits/schema.ts";
import type { Answer, Refusal } from "./answer.ts";
import type { Reading } from "./reading.ts";

/** What the watch does now. Times are milliseconds of its clock. */
export type WatchState =
  | { readonly kind: "asking" }
  | { readonly kind: "live"; readonly nextAt: number }
  /** The tab is hidden. */
  | { readonly kind: "paused" }
  | { readonly kind: "waiting"; readonly nextAt: number; readonly refusal: Refusal; readonly since: Date }
  | { readonly kind: "unreachable"; readonly nextAt: number }
  /** The key may not be used, so asking again changes nothing. */
  | { readonly kind: "stopped"; readonly refusal: Refusal; readonly since: Date };

/** What keeps the limits from being live. */
export type Trouble = Extract<WatchState, { kind: "waiting" | "unreachable" | "stopped" }>;

export function troubleOf(state: WatchState): Trouble | undefined {
  return state.kind === "waiting" || state.kind === "unreachable" || state.kind === "stopped" ? state : undefined;
}

export interface WatchOptions {
  /** Sends GET /limits with the key, one request at a time. */
  readonly ask: (key: string) => Promise<Answer<Limits>>;
  readonly now: () => number;
  /** Calls back after so many milliseconds. @returns a function that cancels it. */
  readonly after: (ms: number, work: () => void) => () => void;
  readonly changed: (state: WatchState) => void;
  readonly read: (key: string, reading: Reading) => void;
}

/** Between two rounds, in milliseconds. A round asks once for each key. */
export const PERIOD_MS = 4_000;
/** Wait after an answer that never came, and the longest wait after several of them. In milliseconds. */
const UNREACHABLE_MS = 4_000;
const MAX_UNREACHABLE_MS = 60_000;

/** Reads GET /limits for the keys of the tab, again and again while the tab is seen. */
export class Watch {
  readonly #options: WatchOptions;
  #keys: readonly string[] = [];
  #seen = true;
  #state: WatchState = { kind: "paused" };
  #nextAt = 0;
  /** The state until the next round, if the tab is visible. */
  #until: WatchState = { kind: "live", nextAt: 0 };
  #failures = 0;
  #cancel: () => void = () => undefined;
  /** Counts the starts: an answer to an earlier one is dropped. */
  #start = 0;

  constructor(options: WatchOptions) {
    this.#options = options;
  }

  /** Starts with these keys, at once. Without keys it asks for nothing. */
  start(keys: readonly string[]): void {
    this.#start++;
    this.#keys = keys;
    this.#failures = 0;
    this.#nextAt = this.#options.now();
    this.#cancel();
    if (keys.length > 0) this.#schedule({ kind: "live", nextAt: this.#nextAt });
    else this.#become({ kind: "paused" });
  }

  /** Says whether the tab is seen. A request that is under way ends; the next one waits until the tab is seen. */
  seen(seen: boolean): void {
    this.#seen = seen;
    if (this.#state.kind === "asking" || this.#state.kind === "stopped" || this.#keys.length === 0) return;
    this.#cancel();
    this.#schedule(this.#until);
  }

  /** Asks at once after an outage, if the browser says that the network is back. */
  online(): void {
    if (this.#state.kind !== "unreachable") return;
    this.#nextAt = this.#options.now();
    this.#cancel();
    this.#schedule(this.#until);
  }

  #schedule(state: WatchState): void {
    this.#until = state;
    if (!this.#seen) return this.#become({ kind: "paused" });
    this.#become(state);
    this.#cancel = this.#options.after(Math.max(0, this.#nextAt - this.#options.now()), () => void this.#round());
  }

  async #round(): Promise<void> {
    const start = this.#start;
    this.#become({ kind: "asking" });
    for (const [index, key] of this.#keys.entries()) {
      if (!this.#seen) break;
      const answer = await this.#options.ask(key);
      if (start !== this.#start) return;
      const { now } = this.#options;
      if (answer.kind === "answered") this.#options.read(key, { limits: answer.body, at: now() });
      // Other keys only add who spent what. One of them that is refused is not what the page is about.
      else if (index === 0) return this.#stopOrWait(answer);
    }
    this.#failures = 0;
    this.#nextAt = this.#options.now() + PERIOD_MS;
    this.#schedule({ kind: "live", nextAt: this.#nextAt });
  }

  #stopOrWait(answer: Exclude<Answer<Limits>, { kind: "answered" }>): void {
    const now = this.#options.now();
    if (answer.kind === "unreachable") {
      this.#nextAt = now + Math.min(UNREACHABLE_MS * 2 ** this.#failures++, MAX_UNREACHABLE_MS);
      return this.#schedule({ kind: "unreachable", nextAt: this.#nextAt });
    }
    const { refusal } = answer;
    const since = new Date();
    if (refusal.status === 401 || refusal.status === 403) return this.#become({ kind: "stopped", refusal, since });
    this.#nextAt = now + Math.max(PERIOD_MS, (refusal.retryAfter ?? 0) * 1000);
    this.#schedule({ kind: "waiting", nextAt: this.#nextAt, refusal, since });
  }

  #become(state: WatchState): void {
    this.#state = state;
    this.#options.changed(state);
  }
}
