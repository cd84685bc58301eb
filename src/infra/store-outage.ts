import { setTimeout as wait } from "node:timers/promises";
import type { Logger } from "pino";
import { problem } from "../problems.ts";
import { BoundedCollection } from "./bounded-collection.ts";
import type { Mongo, OperationName } from "./mongo.ts";

/** What a request needs of the store. Without a primary in time, or with a full disk, only reads may work. */
export type StoreUse = "read" | "write";

export type StoreOutage = ReturnType<typeof storeOutage>;

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
export function storeOutage(mongo: () => Mongo, log: Pick<Logger, "warn" | "info">) {
  const pinged = new Set<StoreUse>();
  /** A part of what is pinged. */
  const down = new Set<StoreUse>();
  const stopping = new AbortController();

  /** @throws problem store_unavailable if the store is known not to answer. A write also needs reads. */
  function check(use: StoreUse): void {
    if (down.has("read") || (use === "write" && down.has("write"))) throw REFUSED;
  }

  /** Notes that the store has failed an operation. */
  function noteFailure(name: OperationName): void {
    const use = /^(insert|update|delete)/.test(name) ? "write" : "read";
    if (!pinged.has(use) && !stopping.signal.aborted) void pingUntilUp(use);
  }

  async function pingUntilUp(use: StoreUse): Promise<void> {
    const up = new AbortController();
    const over = AbortSignal.any([up.signal, stopping.signal]);
    const failed = (): void => {
      if (over.aborted || down.has(use)) return;
      down.add(use);
      log.warn({ use }, "the store does not answer: requests are refused before they are charged");
    };
    pinged.add(use);
    while (!over.aborted) {
      ping(use).then(() => up.abort(), failed); // not awaited: a connection may hang that another one replaces
      await wait(PING_EVERY_MS, undefined, { signal: over, ref: false }).catch(() => undefined);
      failed();
    }
    pinged.delete(use);
    if (down.delete(use) && up.signal.aborted) log.info({ use }, "the store answers again");
  }

  /** Does a little of what requests do: reads a candidate, or writes to `meta`, so that a majority acknowledges it. */
  function ping(use: StoreUse): Promise<unknown> {
    type Pinged = { _id: string; account?: string; at?: number };
    const collection = new BoundedCollection<Pinged>(mongo(), use === "read" ? "candidates" : "meta");
    if (use === "read") return collection.findOne({ _id: "ping", account: "ping" });
    return collection.updateOne({ _id: "ping" }, { $set: { at: Date.now() } }, { upsert: true });
  }

  /** Ends the pings for good. */
  const stop = () => stopping.abort();
  return { check, noteFailure, stop };
}
