import { type Db, MongoClient, MongoError, MongoServerError } from "mongodb";
import { Problem, problem } from "../problems.ts";
import { reviveStuckClient } from "./heartbeats.ts";

/** MongoDB as the stores see it: the database, and the bound that every operation runs under. */
export interface Mongo {
  readonly client: MongoClient;
  readonly db: Db;
  /** The longest an operation may take (STORE_TIMEOUT_MS), in milliseconds. */
  readonly timeoutMs: number;
  /**
   * Runs one store operation within the time allowed; pass the signal on to every driver call that takes one.
   * @throws problem `store_unavailable` when the store does not answer in time or at all. A write may then have happened.
   */
  bounded<T>(operation: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** Ends every connection, for good. */
  close(): Promise<void>;
}

export interface MongoOptions {
  url: string;
  /** Longest an operation may take, in milliseconds: waiting for a server, for a connection and for its answer. */
  timeoutMs: number;
  /** The part of a pino logger that the connection writes to. */
  log?: { warn(message: string): void };
}

const DEFAULT_DATABASE = "onboarding";

/** Connects, and fails within `timeoutMs` when no server can be reached. Writes are acknowledged by a majority, journaled. */
export async function connectMongo({ url, timeoutMs, log }: MongoOptions): Promise<Mongo> {
  const client = new MongoClient(url, {
    appName: "candidate-onboarding-service",
    serverSelectionTimeoutMS: timeoutMs,
    connectTimeoutMS: timeoutMs,
    socketTimeoutMS: timeoutMs,
    waitQueueTimeoutMS: timeoutMs,
    writeConcern: { w: "majority", journal: true },
    ignoreUndefined: true,
  });
  await client.connect();
  const closing = new AbortController();
  const onRevival = (): void => log?.warn("MongoDB's heartbeat hangs: connecting anew");
  reviveStuckClient(client, { onRevival, signal: closing.signal });
  const named = new URL(url.replace(/^mongodb(\+srv)?:\/\/[^/]*/, "http://host")).pathname.slice(1);
  const db = client.db(named === "" ? DEFAULT_DATABASE : decodeURIComponent(named));
  return {
    client,
    db,
    timeoutMs,
    async bounded(operation) {
      const abandoned = new AbortController();
      const { signal } = abandoned;
      // AbortSignal.timeout would hold what the operation gave, through the race it lost, until its time is over.
      const late = setTimeout(
        () => abandoned.abort(new DOMException("The store did not answer in time.", "TimeoutError")),
        timeoutMs,
      );
      try {
        return await Promise.race([operation(signal), whenAborted(signal)]);
      } catch (error) {
        if (isDuplicateKey(error)) throw error;
        if (error instanceof MongoError || isSocketFault(error) || signal.aborted) throw storeUnavailable(error);
        throw error;
      } finally {
        clearTimeout(late);
      }
    },
    async close() {
      closing.abort();
      await client.close();
    },
  };
}

/** Options that bound a write as well: the driver honours `signal` on every operation, its types name it on reads only. */
export function within(signal: AbortSignal): { signal: AbortSignal; ignoreUndefined: true } {
  return { signal, ignoreUndefined: true };
}

function whenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
}

/** Whether a write was refused by a unique index (code 11000). */
export function isDuplicateKey(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === 11000;
}

/** A connection that just broke: mongodb 7.8 lets some of Node's own errors through, of a write to a socket that has ended, say. */
function isSocketFault(error: unknown): boolean {
  return (
    error instanceof Error &&
    "code" in error &&
    /^(EPIPE|ETIMEDOUT|ECONN\w+|ERR_(STREAM|SOCKET)_\w+)$/.test(String(error.code))
  );
}

/** Whether an error says that the store itself did not answer: what waits for it need not be tried one by one. */
export function isStoreDown(error: unknown): boolean {
  return error instanceof Problem && error.code === "store_unavailable" && error.extras.cause !== undefined;
}

function storeUnavailable(cause: unknown): Error {
  return problem("store_unavailable", "The store did not answer in time. Try again shortly.", {
    headers: { "Retry-After": "2" },
    cause,
  });
}
