import { MongoClient, MongoError, MongoNetworkError, MongoServerError } from "mongodb";
import { Problem, problem } from "../problems.ts";
import { withoutCredentials } from "../urls.ts";
import { reviveStuckClient } from "./heartbeats.ts";
import type { Metrics } from "./metrics.ts";
import { watchPool } from "./mongo-pool.ts";
import { published } from "./store-channel.ts";
import { TimeLimit } from "./time-limit.ts";

/** Names an operation for metrics and traces: MongoDB's word for it, and the collection. */
export type OperationName = `${"find" | "insert" | "update" | "delete" | "ping"} ${string}`;

/** MongoDB as the stores use it: the database, and `bounded`, which limits the time of every operation. */
export type Mongo = Awaited<ReturnType<typeof connectMongo>>;

/** Options of every call of the driver. The driver accepts `signal` for writes too, but its types do not declare it. */
export interface Limits {
  /** Aborted when the time is over. */
  readonly signal: AbortSignal;
  /** The server gives the operation up after this many milliseconds, even if nobody waits for it any more. */
  readonly maxTimeMS: number;
  readonly ignoreUndefined: true;
}

export interface MongoOptions {
  url: string;
  /** Maximum time of an operation, in milliseconds, including the wait for a server and for a connection. */
  timeoutMs: number;
  /** Set to 0 for a connection whose operations may take any time. `bounded` keeps its limit. */
  operationTimeoutMs?: 0;
  log?: { warn(message: string): void };
  metrics?: Metrics;
  /** Is told of each operation of `bounded` that the store has failed. */
  outage?: { noteFailure(name: OperationName): void };
}

const DEFAULT_DATABASE = "onboarding";
/** Ticks of an operation's time limit. More than a charge's, because it may wait for a new connection. */
const LIMIT_TICKS = 50;

/** With these, a read sees every acknowledged write, and nothing that an election can take back. */
const PINNED = {
  readPreference: "primary",
  readConcern: { level: "majority" },
  writeConcern: { w: "majority", journal: true, wtimeoutMS: 0 },
  ignoreUndefined: true,
} as const;

/**
 * Connects. The time limits in the URL have no effect. @throws {Error} with the driver's reason if no server can be reached, or
 * with the options to remove if the URL asks for other reads or writes than PINNED.
 */
export async function connectMongo(options: MongoOptions) {
  const { url, timeoutMs, operationTimeoutMs, log, metrics, outage } = options;
  refuseOtherPromises(url);
  const client = new MongoClient(url, {
    ...PINNED,
    appName: "candidate-onboarding-service",
    serverSelectionTimeoutMS: timeoutMs,
    connectTimeoutMS: timeoutMs,
    socketTimeoutMS: operationTimeoutMs ?? timeoutMs,
    waitQueueTimeoutMS: timeoutMs,
  });
  if (metrics !== undefined) watchPool(client, metrics);
  try {
    await client.connect();
  } catch (cause) {
    await client.close();
    const { message } = cause as Error;
    const detail = `MongoDB at ${withoutCredentials(url)} cannot be reached: ${message}. Check MONGODB_URL.`;
    throw new Error(detail, { cause });
  }
  const closing = new AbortController();
  const onRevival = (): void => log?.warn("MongoDB heartbeat is stuck, reconnecting");
  reviveStuckClient(client, { onRevival, signal: closing.signal });
  const db = client.db(databaseOf(url));
  return {
    client,
    db,
    /** Returns whether an operation that began then, by `performance.now()`, has taken longer than it may. */
    isLate: (began: number) => performance.now() - began > timeoutMs,
    /**
     * Runs one store operation for at most STORE_TIMEOUT_MS. Pass the limits on to every call of the driver.
     * @throws problem `store_unavailable` if the store fails or does not respond in time. A write may still have happened.
     */
    bounded<T>(name: OperationName, operation: (limits: Limits) => Promise<T>): Promise<T> {
      const [command = "", collection] = name.split(" ");
      const run = () => published({ system: "mongodb", command, collection }, () => inTime(operation, timeoutMs));
      const result = metrics === undefined ? run() : metrics.timed("mongodb", command, run);
      if (outage !== undefined) result.catch((error: unknown) => isStoreDown(error) && outage.noteFailure(name));
      return result;
    },
    /** Closes every connection for good. */
    async close() {
      closing.abort();
      await client.close();
    },
  };
}

function refuseOtherPromises(url: string): void {
  const { readPreference, readConcern, writeConcern } = optionsIn(url);
  const options = [
    { name: "readPreference", found: readPreference.mode, needed: "primary" },
    { name: "readConcernLevel", found: readConcern?.level ?? "majority", needed: "majority" },
    { name: "w", found: writeConcern?.w ?? "majority", needed: "majority" },
    { name: "journal", found: writeConcern?.journal ?? true, needed: true },
  ];
  const faults = options.filter(({ found, needed }) => found !== needed);
  if (faults.length === 0) return;
  const found = faults.map((fault) => `${fault.name}=${String(fault.found)}`).join(" and ");
  const needed = faults.map((fault) => `${fault.name}=${String(fault.needed)}`).join(" and ");
  const names = faults.map(({ name }) => name).join(" and ");
  throw new Error(`MONGODB_URL asks for ${found}. The service needs ${needed}. Leave ${names} out.`);
}

/** Reads the options of MONGODB_URL. The driver's errors may repeat the URL, so its users and passwords are hidden. */
function optionsIn(url: string): MongoClient["options"] {
  try {
    return new MongoClient(url).options;
  } catch (error) {
    // Without a cause: its message may show a password.
    // oxlint-disable-next-line preserve-caught-error
    throw new Error(`MONGODB_URL cannot be read: ${withoutCredentials((error as Error).message)}.`);
  }
}

function databaseOf(url: string): string {
  const name = new URL(url.replace(/^mongodb(\+srv)?:\/\/[^/?]*/, "http://host")).pathname.slice(1);
  return name === "" ? DEFAULT_DATABASE : decodeURIComponent(name);
}

function inTime<T>(operation: (limits: Limits) => Promise<T>, timeoutMs: number): Promise<T> {
  // Every request waits for at least one of these. By hand it costs half of what Promise.race and a listener cost.
  return new Promise((resolve, reject) => {
    const expired = new AbortController();
    const { signal } = expired;
    // AbortSignal.timeout would keep the result of the operation in memory until the time is over.
    const over = (): void => {
      const late = new DOMException("The store did not answer in time.", "TimeoutError");
      expired.abort(late);
      reject(storeUnavailable(late));
    };
    const limit = new TimeLimit(timeoutMs, over, LIMIT_TICKS);
    const fail = (error: unknown): void => {
      limit.clear();
      const isFault = error instanceof MongoError || isSocketFault(error) || signal.aborted;
      reject(isFault && !isDuplicateKey(error) ? storeUnavailable(error) : (error as Error));
    };
    const run = (): void => {
      try {
        operation({ signal, maxTimeMS: timeoutMs, ignoreUndefined: true }).then((result) => {
          limit.clear();
          resolve(result);
        }, failed);
      } catch (error) {
        fail(error); // it threw before it returned a promise
      }
    };
    // The driver's own timers count the time in which this process stood still. What they gave up was never sent.
    const failed = (error: unknown): void => (isUnsent(error) && limit.leftMs > 0 ? run() : fail(error));
    run();
  });
}

/** Returns whether the driver found no server, or no free connection, in time. */
function isUnsent(error: unknown): boolean {
  return error instanceof MongoError && /^Mongo(ServerSelection|WaitQueueTimeout)Error$/.test(error.name);
}

/** Returns whether a unique index refused a write (code 11000). */
export function isDuplicateKey(error: unknown): boolean {
  return error instanceof MongoServerError && error.code === 11000;
}

/** Codes of a server that stops, is out of reach, is no longer the primary, or gave up an index because of an election. */
const PASSING_CODES = new Set<unknown>([
  6, 7, 89, 91, 134, 189, 262, 276, 9001, 10058, 10107, 11600, 11602, 13435, 13436,
]);

/** Returns whether the same command may succeed a little later. */
export function isPassing(error: unknown): boolean {
  return error instanceof MongoNetworkError || (error instanceof MongoError && PASSING_CODES.has(error.code));
}

const SOCKET_CODE = /^(E(PIPE|TIMED?OUT|CONN\w+|NOTFOUND|AI_AGAIN|SERVFAIL|REFUSED|NODATA)|ERR_(STREAM|SOCKET)_\w+)$/;

/** Returns whether a connection broke or a lookup of its host failed. mongodb 7.8 does not wrap some of these errors of Node. */
function isSocketFault(error: unknown): boolean {
  return error instanceof Error && "code" in error && SOCKET_CODE.test(String(error.code));
}

/** Returns whether the store itself failed to respond, so that every queued operation would fail too. */
export function isStoreDown(error: unknown): boolean {
  return error instanceof Problem && error.code === "store_unavailable" && error.extras.cause !== undefined;
}

/** Returns whether the store may respond later. False if it refuses the user, and for other errors. */
export function isStoreOutage(error: unknown): error is Error {
  if (error instanceof MongoServerError) return isPassing(error) || [50, 133].includes(Number(error.code)); // late; no primary
  if (!(error instanceof Error)) return false;
  const isLate = error.name === "TimeoutError";
  return isLate || isPassing(error) || isUnsent(error) || isSocketFault(error) || isStoreOutage(error.cause);
}

function storeUnavailable(cause: unknown): Error {
  const detail = "The store did not answer in time. Try again shortly.";
  return problem("store_unavailable", detail, { headers: { "Retry-After": "2" }, cause });
}
