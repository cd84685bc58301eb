import { type Db, MongoClient, MongoError, MongoServerError } from "mongodb";
import { Problem, problem } from "../problems.ts";
import { reviveStuckClient } from "./heartbeats.ts";
import type { Metrics } from "./metrics.ts";
import { watchPool } from "./mongo-pool.ts";
import { published } from "./store-channel.ts";
import { withoutCredentials } from "./urls.ts";

/** What an operation does, in the words of MongoDB's commands. */
type Operation = "find" | "insert" | "update" | "delete" | "ping";
/** Names an operation for metrics and traces: what it does, and the collection that it does it to. */
export type OperationName = `${Operation} ${string}`;

/** MongoDB as the stores use it: the database, and `bounded`, which limits the time of every operation. */
export interface Mongo {
  readonly client: MongoClient;
  readonly db: Db;
  /** Longest time an operation may take, in milliseconds (STORE_TIMEOUT_MS). */
  readonly timeoutMs: number;
  /**
   * Runs one store operation for at most `timeoutMs`. Pass the signal on to every driver call that takes one.
   * @param name for example "find candidates".
   * @throws problem `store_unavailable` if the store fails or does not answer in time. A write may still have happened.
   */
  bounded<T>(name: OperationName, operation: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** Closes every connection for good. */
  close(): Promise<void>;
}

export interface MongoOptions {
  url: string;
  /** Longest time an operation may take, in milliseconds, including the wait for a server and for a connection. */
  timeoutMs: number;
  log?: { warn(message: string): void };
  metrics?: Metrics;
}

const DEFAULT_DATABASE = "onboarding";

/**
 * Connects. Writes wait until a majority of the replica set has journaled them.
 * @throws {Error} with the address and the driver's reason, within `timeoutMs`, if no server can be reached.
 */
export async function connectMongo({ url, timeoutMs, log, metrics }: MongoOptions): Promise<Mongo> {
  const client = new MongoClient(url, {
    appName: "candidate-onboarding-service",
    serverSelectionTimeoutMS: timeoutMs,
    connectTimeoutMS: timeoutMs,
    socketTimeoutMS: timeoutMs,
    waitQueueTimeoutMS: timeoutMs,
    writeConcern: { w: "majority", journal: true },
    ignoreUndefined: true,
  });
  if (metrics !== undefined) watchPool(client, metrics);
  try {
    await client.connect();
  } catch (error) {
    await client.close();
    const reason = (error as Error).message;
    throw new Error(`MongoDB at ${withoutCredentials(url)} cannot be reached: ${reason}. Check MONGODB_URL.`, {
      cause: error,
    });
  }
  const closing = new AbortController();
  const onRevival = (): void => log?.warn("MongoDB heartbeat is stuck, reconnecting");
  reviveStuckClient(client, { onRevival, signal: closing.signal });
  const name = new URL(url.replace(/^mongodb(\+srv)?:\/\/[^/]*/, "http://host")).pathname.slice(1);
  const db = client.db(name === "" ? DEFAULT_DATABASE : decodeURIComponent(name));
  return {
    client,
    db,
    timeoutMs,
    async bounded(name, operation) {
      const started = performance.now();
      const [command = "", collection] = name.split(" ");
      try {
        const result = await published({ system: "mongodb", command, collection }, () => inTime(operation, timeoutMs));
        metrics?.operation("mongodb", command, started);
        return result;
      } catch (error) {
        metrics?.operation("mongodb", command, started, error);
        throw error;
      }
    },
    async close() {
      closing.abort();
      await client.close();
    },
  };
}

/** Runs an operation. @throws problem `store_unavailable` if the store fails or does not answer in time. */
async function inTime<T>(operation: (signal: AbortSignal) => Promise<T>, timeoutMs: number): Promise<T> {
  const expired = new AbortController();
  const { signal } = expired;
  // AbortSignal.timeout would keep the result of the operation in memory until the time is over.
  const timer = setTimeout(
    () => expired.abort(new DOMException("The store did not answer in time.", "TimeoutError")),
    timeoutMs,
  );
  try {
    return await Promise.race([operation(signal), whenAborted(signal)]);
  } catch (error) {
    if (isDuplicateKey(error)) throw error;
    if (error instanceof MongoError || isSocketFault(error) || signal.aborted) throw storeUnavailable(error);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** Returns options that pass the signal to a write. The driver accepts it, but its types do not declare `signal`. */
export function within(signal: AbortSignal): { signal: AbortSignal; ignoreUndefined: true } {
  return { signal, ignoreUndefined: true };
}

function whenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
}

/** Returns whether a unique index refused a write (code 11000). */
export function isDuplicateKey(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === 11000;
}

/** Returns whether a connection broke. mongodb 7.8 does not wrap some of Node's errors, such as a write to a closed socket. */
function isSocketFault(error: unknown): boolean {
  return (
    error instanceof Error &&
    "code" in error &&
    /^(EPIPE|ETIMEDOUT|ECONN\w+|ERR_(STREAM|SOCKET)_\w+)$/.test(String(error.code))
  );
}

/** Returns whether the store itself failed to answer, so that every queued operation would fail too. */
export function isStoreDown(error: unknown): boolean {
  return error instanceof Problem && error.code === "store_unavailable" && error.extras.cause !== undefined;
}

function storeUnavailable(cause: unknown): Error {
  return problem("store_unavailable", "The store did not answer in time. Try again shortly.", {
    headers: { "Retry-After": "2" },
    cause,
  });
}
