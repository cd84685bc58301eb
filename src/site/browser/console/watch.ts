import type { Limits } from "../../../limits/schema.ts";
import type { Reading } from "./limits.ts";
import type { Failure, Result } from "./result.ts";

export interface WatchState {
  /** `paused`: the tab is hidden, or there is no key. `stopped`: the key may not be used, so another request changes nothing. */
  readonly kind: "polling" | "waiting" | "paused" | "stopped";
  /** Start of the next round, in milliseconds of the watch's clock. */
  readonly nextAt: number;
  /** Why the limits are not live: the last result for the tab's own key. Undefined while they are. */
  readonly failure: { readonly result: Failure; readonly at: Date } | undefined;
}

export interface WatchOptions {
  /** Sends GET /limits with the key. */
  readonly get: (key: string) => Promise<Result<Limits>>;
  readonly now: () => number;
  /** Calls back after so many milliseconds. @returns a function that cancels it. */
  readonly after: (ms: number, work: () => void) => () => void;
  readonly changed: (state: WatchState) => void;
  readonly read: (key: string, reading: Reading) => void;
}

/** Between two rounds, in milliseconds. A round sends one request for each key. */
export const PERIOD_MS = 4_000;

export const PAUSED: WatchState = { kind: "paused", nextAt: 0, failure: undefined };

/** Polls GET /limits for the keys of the tab while the tab is visible. */
export class Watch {
  readonly #options: WatchOptions;
  #keys: readonly string[] = [];
  #visible = true;
  #state = PAUSED;
  #cancel: () => void = () => undefined;
  /** Number of starts: a response to a request of an earlier one is dropped. */
  #start = 0;

  constructor(options: WatchOptions) {
    this.#options = options;
  }

  /** Starts with these keys, at once. Without keys it sends nothing. */
  start(keys: readonly string[]): void {
    this.#start++;
    this.#keys = keys;
    this.#cancel();
    if (keys.length > 0) this.#schedule(this.#options.now(), this.#state.failure);
    else this.#become(PAUSED);
  }

  /** Says whether the tab is visible. A request that is under way ends; the next one waits until the tab is visible. */
  visible(visible: boolean): void {
    this.#visible = visible;
    const { kind, nextAt, failure } = this.#state;
    if (kind === "polling" || kind === "stopped" || this.#keys.length === 0) return;
    this.#cancel();
    this.#schedule(nextAt, failure);
  }

  #schedule(nextAt: number, failure: WatchState["failure"]): void {
    this.#become({ kind: this.#visible ? "waiting" : "paused", nextAt, failure });
    if (!this.#visible) return;
    this.#cancel = this.#options.after(Math.max(0, nextAt - this.#options.now()), () => void this.#round());
  }

  async #round(): Promise<void> {
    const start = this.#start;
    this.#become({ ...this.#state, kind: "polling" });
    for (const [index, key] of this.#keys.entries()) {
      if (!this.#visible) break;
      const result = await this.#options.get(key);
      if (start !== this.#start) return;
      if (result.kind === "ok") this.#options.read(key, { limits: result.body, at: this.#options.now() });
      // Other keys only add what each of them spent, so a failure of theirs is not shown.
      else if (index === 0) return this.#stopOrWait(result);
    }
    this.#schedule(this.#options.now() + PERIOD_MS, undefined);
  }

  #stopOrWait(result: Failure): void {
    const failure = { result, at: new Date() };
    const { status, retryAfter = 0 } = result.kind === "refused" ? result.refusal : {};
    if (status === 401 || status === 403) this.#become({ ...this.#state, kind: "stopped", failure });
    else this.#schedule(this.#options.now() + Math.max(PERIOD_MS, retryAfter * 1000), failure);
  }

  #become(state: WatchState): void {
    this.#state = state;
    this.#options.changed(state);
  }
}
