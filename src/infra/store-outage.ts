import type { Logger } from "pino";
import { problem } from "../problems.ts";
import { BoundedCollection } from "./bounded-collection.ts";
import type { Mongo, OperationName } from "./mongo.ts";

/** What a request needs of the store. Without a primary in time, or with a full disk, only reads may work. */
export type StoreUse = "read" | "write";

/** Failures in a row after which the store is pinged: of one kind of operation, or of all reads or all writes. */
const FAILURES = 2;
/** Time that the first ping has before requests are refused, in milliseconds. */
const FIRST_PING_MS = 250;
/** Pause between the starts of two pings, in milliseconds. */
const PING_EVERY_MS = 1_000;

/** One error for all requests. To make one, with its stack, costs more than the refusal. */
const REFUSED = problem("store_unavailable", "The store does not answer. Nothing was charged. Try again shortly.", {
  headers: { "Retry-After": "2" },
});
delete REFUSED.stack; // it would be in the log line of each request

export interface StoreOutageOptions {
  /** Does what requests need: a read, or a write that a majority acknowledges. Rejects if the store does not answer. */
  readonly ping: (use: StoreUse) => Promise<unknown>;
  readonly log: Pick<Logger, "warn" | "info">;
}

interface Outage {
  /** True once a ping has failed, or the first one took too long: requests are refused. */
  known: boolean;
  timer?: NodeJS.Timeout;
}

/**
 * Knows whether the store answers, so that requests that need it are refused before they are charged. Failed operations only
 * make it ping: those of one account may fail alone, for example because they are slow. A ping decides, also when it is over.
 */
export class StoreOutage {
  readonly #options: StoreOutageOptions;
  /** By operation, and by use: when the last success ended, by `performance.now()`, and the number of failures since. */
  readonly #outcomes = new Map<string, { succeededAt: number; failures: number }>();
  readonly #outages = new Map<StoreUse, Outage>();
  #stopped = false;

  constructor(options: StoreOutageOptions) {
    this.#options = options;
  }

  /** @throws problem store_unavailable if the store is known not to answer. A write also needs reads. */
  check(use: StoreUse): void {
    if (this.#outages.size === 0) return;
    const isKnown = (each: StoreUse) => this.#outages.get(each)?.known === true;
    if (isKnown("read") || (use === "write" && isKnown("write"))) throw REFUSED;
  }

  /** Notes the outcome of an operation. @param began by `performance.now()`. */
  ended(name: OperationName, began: number, failed: boolean): void {
    const use = useOf(name);
    for (const each of [name, use]) {
      const outcome = this.#outcomes.get(each) ?? { succeededAt: -1, failures: 0 };
      this.#outcomes.set(each, outcome);
      if (!failed) Object.assign(outcome, { succeededAt: performance.now(), failures: 0 });
      // If another one has succeeded since it began, the store answers.
      else if (began > outcome.succeededAt && ++outcome.failures >= FAILURES) this.#suspect(use);
    }
  }

  /** Ends the pings for good. */
  stop(): void {
    this.#stopped = true;
    for (const use of this.#outages.keys()) this.#end(use);
  }

  #suspect(use: StoreUse): void {
    if (this.#stopped || this.#outages.has(use)) return;
    const outage: Outage = { known: false };
    this.#outages.set(use, outage);
    const failed = (): void => {
      if (outage.known || this.#outages.get(use) !== outage) return;
      outage.known = true;
      this.#options.log.warn({ use }, "the store does not answer: requests are refused before they are charged");
    };
    const answered = (): void => {
      if (this.#outages.get(use) !== outage) return;
      this.#end(use);
      if (outage.known) this.#options.log.info({ use }, "the store answers again");
    };
    const ping = (waitMs: number): void => {
      this.#options.ping(use).then(answered, failed); // not awaited: a connection may hang that another one replaces
      outage.timer = setTimeout(() => {
        failed();
        ping(PING_EVERY_MS);
      }, waitMs).unref();
    };
    ping(FIRST_PING_MS);
  }

  #end(use: StoreUse): void {
    clearTimeout(this.#outages.get(use)?.timer);
    this.#outages.delete(use);
    for (const [name, outcome] of this.#outcomes)
      if (useOf(name) === use) Object.assign(outcome, { succeededAt: performance.now(), failures: 0 });
  }
}

/** Reads from the collection of candidates, or writes to `meta`, a little in each case. */
export function pingStore(mongo: Mongo, use: StoreUse): Promise<unknown> {
  if (use === "read")
    return new BoundedCollection<{ _id: string; account: string }>(mongo, "candidates").findOne({
      _id: "ping",
      account: "ping",
    });
  const meta = new BoundedCollection<{ _id: string; at: number }>(mongo, "meta");
  return meta.updateOne({ _id: "ping" }, { $set: { at: Date.now() } }, { upsert: true });
}

function useOf(name: string): StoreUse {
  return /^(insert|update|delete|write)/.test(name) ? "write" : "read";
}
