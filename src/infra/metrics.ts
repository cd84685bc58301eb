import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { Problem } from "../problems.ts";
import { RedisMemoryGauges } from "./redis-memory-gauges.ts";

/** OpenTelemetry's advice for http.server.request.duration, in seconds. */
const REQUEST_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
/** OpenTelemetry's advice for db.client.operation.duration, in seconds. */
const OPERATION_BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10];
/** A decision usually takes less than a millisecond, and LIMITER_TIMEOUT_MS is 100 by default. In seconds. */
const DECISION_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1];

const POOL = { db_system_name: "mongodb" };

export type DbSystem = "redis" | "mongodb";

/** How far the feed is behind, in milliseconds, and how many writes are unsettled. */
export interface FeedState {
  readonly lagMs: number;
  readonly unsettled: number;
}

/** Messages of a UTC day: of all accounts together, and of the one that sent the most. NaN if they are not known. */
export type MailState = Readonly<Record<"messages" | "largest", number>>;

/** Connections of a pool, and the operations that wait for one. */
export interface PoolState {
  readonly used: number;
  readonly idle: number;
  readonly pending: number;
  /** How many connections it may open to each server. */
  readonly max: number;
}

/**
 * The instruments of one service. Names and buckets are OpenTelemetry's where it has them, in Prometheus's spelling.
 * Source: OpenTelemetry semantic conventions 1.37, HTTP metrics and database client metrics.
 *
 * No label may take a value that grows with accounts: each value comes from a list in the code. `aggregator` says how
 * the processes that share a port are summed up; counters and histograms are added.
 */
export class Metrics {
  readonly registry = new Registry();
  readonly #in = { registers: [this.registry] };

  readonly requestDuration = new Histogram({
    ...this.#in,
    name: "http_server_request_duration_seconds",
    help: "Time from the first byte of a request to the end of its answer. The status is empty if no answer was begun.",
    labelNames: ["http_request_method", "http_route", "http_response_status_code"],
    buckets: REQUEST_BUCKETS,
  });
  readonly activeRequests = new Gauge({
    ...this.#in,
    name: "http_server_active_requests",
    help: "Requests that are being served.",
  });

  readonly decisions = new Counter({
    ...this.#in,
    name: "limiter_decisions_total",
    help: "Decisions of the limiter. The verdict is the word of the log; the scope is what it counts against.",
    labelNames: ["surface", "verdict", "scope"],
  });
  readonly decisionDuration = new Histogram({
    ...this.#in,
    name: "limiter_decision_duration_seconds",
    help: "Time of a decision, including a second round trip and the time until it was given up.",
    buckets: DECISION_BUCKETS,
  });
  readonly limiterOutages = new Counter({
    ...this.#in,
    name: "limiter_outages_total",
    help: "How often Redis stopped answering the limiter. An outage ends with its next answer.",
  });
  readonly localDecisions = new Counter({
    ...this.#in,
    name: "limiter_local_decisions_total",
    help: "Decisions that were made in memory, because Redis did not answer and LIMITER_ON_OUTAGE is local.",
    labelNames: ["surface"],
  });
  readonly repeatedRefusals = new Counter({
    ...this.#in,
    name: "limiter_repeated_refusals_total",
    help: "Refusals that a replica repeated by itself in a flood, without asking Redis. They count as decisions too.",
    labelNames: ["surface", "scope"],
  });

  readonly dependencyUp = new Gauge({
    ...this.#in,
    name: "dependency_up",
    help: "1 if Redis or MongoDB answered the last check, else 0. It is checked every 5 s and by /readyz.",
    labelNames: ["db_system_name"],
    aggregator: "min",
  });
  readonly operationDuration = new Histogram({
    ...this.#in,
    name: "db_client_operation_duration_seconds",
    help: "Time of an operation as the service sees it, with the wait for a connection.",
    labelNames: ["db_system_name", "db_operation_name", "error_type"],
    buckets: OPERATION_BUCKETS,
  });
  readonly connectionTimeouts = new Counter({
    ...this.#in,
    name: "db_client_connection_timeouts_total",
    help: "Operations that gave up waiting for a connection.",
    labelNames: ["db_system_name"],
  });
  readonly redisMemory = new RedisMemoryGauges(this.registry);

  readonly sweepRuns = new Counter({
    ...this.#in,
    name: "sweep_runs_total",
    help: "Passes of a sweep. Only the process that holds the lease sweeps.",
    labelNames: ["sweep", "outcome"],
  });
  readonly sweepItems = new Counter({
    ...this.#in,
    name: "sweep_items_total",
    help: "Items that a sweep handled.",
    labelNames: ["sweep"],
  });
  readonly sweepSuccess = new Gauge({
    ...this.#in,
    name: "sweep_last_success_timestamp_seconds",
    help: "When a sweep last ended without a failure, in seconds since the epoch.",
    labelNames: ["sweep"],
    aggregator: "max",
  });

  readonly messages = new Counter({
    ...this.#in,
    name: "outreach_messages_total",
    help: "Reminders. planned: an attempt was recorded. The other outcomes say what became of it, at each try.",
    labelNames: ["recipient", "outcome"],
  });
  readonly mailOutages = new Counter({
    ...this.#in,
    name: "outreach_mail_outages_total",
    help: "How often the mail server could not be used. It is tried again after 5 seconds, then after ever longer pauses, up to 5 minutes.",
  });

  #mail: () => Promise<MailState> = () => Promise.resolve({ messages: 0, largest: 0 });
  readonly messagesToday: Gauge = new Gauge({
    ...this.#in,
    name: "outreach_messages_today",
    help: "Reminders that were sent since 00:00 UTC, by all replicas together.",
    aggregator: "max",
    collect: async () => this.messagesToday.set((await this.#mail()).messages),
  });
  readonly messagesOfLargest: Gauge = new Gauge({
    ...this.#in,
    name: "outreach_messages_today_of_one_account",
    help: "Those of the account that sent the most of them.",
    aggregator: "max",
    collect: async () => this.messagesOfLargest.set((await this.#mail()).largest),
  });

  #feed: () => FeedState = () => ({ lagMs: 0, unsettled: 0 });
  readonly feedLag: Gauge = new Gauge({
    ...this.#in,
    name: "feed_lag_seconds",
    help: "Age of the oldest change that has a place in the feed although its write has not ended. 0 if there is none.",
    aggregator: "max",
    collect: () => this.feedLag.set(this.#feed().lagMs / 1000),
  });
  readonly feedUnsettled: Gauge = new Gauge({
    ...this.#in,
    name: "feed_unsettled_writes",
    help: "Writes that were answered 503 and may still happen.",
    collect: () => this.feedUnsettled.set(this.#feed().unsettled),
  });

  #pool: () => PoolState = () => ({ used: 0, idle: 0, pending: 0, max: 0 });
  readonly connections: Gauge = new Gauge({
    ...this.#in,
    name: "db_client_connection_count",
    help: "Connections of the pool.",
    labelNames: ["db_system_name", "db_client_connection_state"],
    collect: () => {
      for (const state of ["used", "idle"] as const)
        this.connections.set({ ...POOL, db_client_connection_state: state }, this.#pool()[state]);
    },
  });
  readonly connectionMax: Gauge = new Gauge({
    ...this.#in,
    name: "db_client_connection_max",
    help: "How many connections the pool may open to each server.",
    labelNames: ["db_system_name"],
    collect: () => this.connectionMax.set(POOL, this.#pool().max),
  });
  readonly connectionPending: Gauge = new Gauge({
    ...this.#in,
    name: "db_client_connection_pending_requests",
    help: "Operations that wait for a connection.",
    labelNames: ["db_system_name"],
    collect: () => this.connectionPending.set(POOL, this.#pool().pending),
  });

  /** Sets where the state of the feed comes from. `read` is called only when someone asks for the metrics. */
  watchFeed(read: () => FeedState): void {
    this.#feed = read;
  }

  /** As `watchFeed`. `read` must not fail. */
  watchMail(read: () => Promise<MailState>): void {
    this.#mail = read;
  }

  /** As `watchFeed`, for the state of MongoDB's pool. */
  watchPool(read: () => PoolState): void {
    this.#pool = read;
  }

  /** Observes an operation that began at `started`, by `performance.now()`. */
  operation(system: DbSystem, name: string, started: number, error?: unknown): void {
    const error_type = error === undefined ? "" : typeOf(error);
    this.operationDuration.observe(
      { db_system_name: system, db_operation_name: name, error_type },
      (performance.now() - started) / 1000,
    );
  }

  /** Observes a command to Redis, and returns its answer. */
  async timed<T>(name: string, command: () => Promise<T>): Promise<T> {
    const started = performance.now();
    try {
      const answer = await command();
      this.operation("redis", name, started);
      return answer;
    } catch (error) {
      this.operation("redis", name, started, error);
      throw error;
    }
  }
}

function typeOf(error: unknown): string {
  if (error instanceof Problem) return error.code;
  return error instanceof Error ? error.name : "Error";
}
