import { setTimeout as wait } from "node:timers/promises";
import type { Logger } from "pino";
import { problem } from "../problems.ts";
import { BoundedCollection } from "./bounded-collection.ts";
import type { Mongo, OperationName } from "./mongo.ts";

/** What a request needs of the store. Without a primary in time, or with a full disk, only reads may work. */
export type StoreUse = "read" | "write";

/** Pause between the starts of two pings, in milliseconds. A store that lets one wait for so long counts as down. */
const PING_EVERY_MS = 1_000;

/** One error for all requests. To make one, with its stack, costs more than the refusal. */
const REFUSED = problem("store_unavailable", "The store does not answer. Nothing was charged. Try again shortly.", {
  headers: { "Retry-After": "2" },
});
delete REFUSED.stack; // it would be in the log line of each request

/**
 * Knows whether the store answers, so that requests that need it are refused before they are charged. A failed operation only
 * makes it ping: those of one account may fail alone, for example because they are slow. A ping decides, also when it is over.
 */
export class StoreOutage {
  readonly #mongo: () => Mongo;
  readonly #log: Pick<Logger, "warn" | "info">;
  readonly #pinged = new Set<StoreUse>();
  /** A part of what is pinged. */
  readonly #down = new Set<StoreUse>();
  readonly #stopping = new AbortController();

  constructor(mongo: () => Mongo, log: Pick<Logger, "warn" | "info">) {
    this.#mongo = mongo;
    this.#log = log;
  }

  /** @throws problem store_unavailable if the store is known not to answer. A write also needs reads. */
  check(use: StoreUse): void {
    if (this.#down.has("read") || (use === "write" && this.#down.has("write"))) throw REFUSED;
  }

  /** Notes that the store has failed an operation. */
  noteFailure(name: OperationName): void {
    const use = /^(insert|update|delete)/.test(name) ? "write" : "read";
    if (!this.#pinged.has(use) && !this.#stopping.signal.aborted) void this.#pingUntilUp(use);
  }

  /** Ends the pings for good. */
  stop(): void {
    this.#stopping.abort();
  }

  async #pingUntilUp(use: StoreUse): Promise<void> {
    const up = new AbortController();
    const over = AbortSignal.any([up.signal, this.#stopping.signal]);
    const failed = (): void => {
      if (over.aborted || this.#down.has(use)) return;
      this.#down.add(use);
      this.#log.warn({ use }, "the store does not answer: requests are refused before they are charged");
    };
    this.#pinged.add(use);
    while (!over.aborted) {
      this.#ping(use).then(() => up.abort(), failed); // not awaited: a connection may hang that another one replaces
      await wait(PING_EVERY_MS, undefined, { signal: over, ref: false }).catch(() => undefined);
      failed();
    }
    this.#pinged.delete(use);
    if (this.#down.delete(use) && up.signal.aborted) this.#log.info({ use }, "the store answers again");
  }

  /** Does a little of what requests do: reads a candidate, or writes to `meta`, so that a majority acknowledges it. */
  #ping(use: StoreUse): Promise<unknown> {
    type Pinged = { _id: string; account?: string; at?: number };
    const collection = new BoundedCollection<Pinged>(this.#mongo(), use === "read" ? "candidates" : "meta");
    if (use === "read") return collection.findOne({ _id: "ping", account: "ping" });
    return collection.updateOne({ _id: "ping" }, { $set: { at: Date.now() } }, { upsert: true });
  }
}
