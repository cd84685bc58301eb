import { setTimeout } from "node:timers/promises";
import { Counter, Gauge, type GaugeConfiguration, Histogram, Registry } from "prom-client";
import { Problem } from "../problems.ts";

/** OpenTelemetry's advice for http.server.request.duration, in seconds. */
const REQUEST_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
/** OpenTelemetry's advice for db.client.operation.duration, in seconds. */
const OPERATION_BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10];
/** A decision usually takes less than a millisecond, and LIMITER_TIMEOUT_MS is 100 by default. In seconds. */
const DECISION_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1];

/** Maximum wait of a scrape for MongoDB, in milliseconds. */
const MAX_READ_MS = 250;

const POOL = { db_system_name: "mongodb" };

export type DbSystem = "redis" | "mongodb";

/**
 * The instruments of one service. Names and buckets are OpenTelemetry's where it has them, in Prometheus's spelling.
 * Source: OpenTelemetry semantic conventions 1.37, HTTP metrics and database client metrics.
 *
 * No label may take a value that grows with accounts: each value comes from a list in the code. The one exception shows at
 * most 20 series at a time. With REPLICAS above 1, counters and histograms are added up, and gauges as their `aggregator` says.
 */
export class Metrics {
  readonly registry = new Registry();
  /** Lag of the feed in milliseconds, and the number of unsettled writes. Like those below, it is called at each scrape. */
  readFeed = () => ({ lagMs: 0, unsettled: 0 });
  /** Messages of a UTC day: of all accounts, and of the one that sent the most. */
  readMail = () => Promise.resolve({ messages: 0, largest: 0 });
  /** Number of candidates whose record could not be read. */
  readUnreadable = () => 0;
  /** The accounts and surfaces with the most refusals in the current hour, at most 20. */
  readRefused = (): readonly { account: string; surface: string; requests: number }[] => [];
  /** Connections of MongoDB's pool, operations that wait for one, and the maximum number of connections to each server. */
  readPool = () => ({ used: 0, idle: 0, pending: 0, max: 0 });

  readonly requestDuration = this.#histogram(
    "http_server_request_duration_seconds",
    "Time from the first byte of a request to the end of its response. The status is empty if none was begun.",
    REQUEST_BUCKETS,
    ["http_request_method", "http_route", "http_response_status_code"],
  );
  readonly activeRequests = this.#gauge("http_server_active_requests", "Requests that are being served.");

  readonly decisions = this.#counter(
    "limiter_decisions_total",
    "Decisions of the limiter. The verdict is the word of the log; the scope is what it counts against.",
    ["surface", "verdict", "scope"],
  );
  readonly decisionDuration = this.#histogram(
    "limiter_decision_duration_seconds",
    "Time of a decision, including a second round trip and the time until it was given up.",
    DECISION_BUCKETS,
  );
  readonly limiterOutages = this.#counter(
    "limiter_outages_total",
    "Number of limiter outages. One begins when Redis stops replying to the limiter, and ends with its next reply.",
  );
  readonly localDecisions = this.#counter(
    "limiter_local_decisions_total",
    "Decisions that were made in memory, because Redis did not respond and LIMITER_ON_OUTAGE is local.",
    ["surface"],
  );
  readonly repeatedRefusals = this.#counter(
    "limiter_repeated_refusals_total",
    "Refusals that a replica repeated by itself in a flood, without asking Redis. They count as decisions too.",
    ["surface", "scope"],
  );

  readonly dependencyUp = this.#gauge(
    "dependency_up",
    "1 if Redis or MongoDB responded to the last check, else 0. It is checked every 5 s and by /readyz?deep=1.",
    { labelNames: ["db_system_name"], aggregator: "min" },
  );
  readonly operationDuration = this.#histogram(
    "db_client_operation_duration_seconds",
    "Time of an operation as the service sees it, with the wait for a connection.",
    OPERATION_BUCKETS,
    ["db_system_name", "db_operation_name", "error_type"],
  );
  readonly connectionTimeouts = this.#counter(
    "db_client_connection_timeouts_total",
    "Operations that gave up waiting for a connection.",
    ["db_system_name"],
  );

  /** In a cluster, these are of the fullest master. NaN if Redis does not tell. */
  readonly redisMemory = {
    used: this.#gauge("redis_memory_used_bytes", "Memory that Redis uses (used_memory).", { aggregator: "max" }),
    max: this.#gauge("redis_memory_max_bytes", "Memory that Redis may use (maxmemory). 0 means no limit.", {
      aggregator: "max",
    }),
    nearlyFull: this.#gauge(
      "redis_memory_nearly_full",
      "1 if Redis has used more than 90 % of maxmemory, and will refuse writes when it is full, else 0.",
      { aggregator: "max" },
    ),
    policyUnsafe: this.#gauge(
      "redis_maxmemory_policy_unsafe",
      "1 if the maxmemory-policy is not noeviction, so that a full Redis evicts limits, else 0. NaN if not known.",
      { aggregator: "max" },
    ),
  };

  readonly restoring = this.#gauge("onboarding_restoring", "1 while MongoDB is being restored and nobody is served.", {
    aggregator: "max",
  });

  readonly sweepRuns = this.#counter(
    "sweep_runs_total",
    "Passes of a sweep. Only the process that holds the lease sweeps.",
    ["sweep", "outcome"],
  );
  readonly sweepItems = this.#counter("sweep_items_total", "Items that a sweep handled.", ["sweep"]);
  readonly sweepSuccess = this.#gauge(
    "sweep_last_success_timestamp_seconds",
    "Time when a sweep last ended without a failure, in seconds since the epoch.",
    { labelNames: ["sweep"], aggregator: "max" },
  );

  readonly messages = this.#counter(
    "outreach_messages_total",
    "Reminders. planned: an attempt was recorded. The other outcomes say what became of it, at each try.",
    ["recipient", "outcome"],
  );
  readonly mailOutages = this.#counter(
    "outreach_mail_outages_total",
    "Number of times the mail server could not be used. Retries follow after 5 seconds, and later up to 5 minutes.",
  );

  readonly nudges = this.#counter("webhook_nudges_total", "Attempts to send a nudge to a webhook.", ["outcome"]);
  readonly webhooksDisabled = this.#counter("webhooks_disabled_total", "Webhooks that the service disabled.", [
    "reason",
  ]);
  readonly webhookLag = this.#gauge("webhook_lag_seconds", "By how much the nudge is late that should go next, or 0.", {
    aggregator: "max",
  });

  constructor() {
    this.#gauge("outreach_messages_today", "Reminders that were sent since 00:00 UTC, by all replicas together.", {
      aggregator: "max",
      collect: async (gauge) => gauge.set((await soon(this.readMail()))?.messages ?? NaN),
    });
    this.#gauge("outreach_messages_today_of_one_account", "Those of the account that sent the most of them.", {
      aggregator: "max",
      collect: async (gauge) => gauge.set((await soon(this.readMail()))?.largest ?? NaN),
    });
    this.#gauge(
      "limiter_account_refusals",
      "Refusals in the current hour, of the accounts with the most, at most 20.",
      {
        labelNames: ["account", "surface"],
        collect: (gauge) => {
          gauge.reset();
          for (const { account, surface, requests } of this.readRefused()) gauge.set({ account, surface }, requests);
        },
      },
    );
    this.#gauge("feed_lag_seconds", "Age of the oldest change with a feed position whose write has not ended, or 0.", {
      aggregator: "max",
      collect: (gauge) => gauge.set(this.readFeed().lagMs / 1000),
    });
    this.#gauge("feed_unsettled_writes", "Writes that ended with 503 and may still happen.", {
      collect: (gauge) => gauge.set(this.readFeed().unsettled),
    });
    this.#gauge(
      "onboarding_unreadable_records",
      "Candidates whose record this process could not read in the last hour, at most 1,000.",
      { aggregator: "max", collect: (gauge) => gauge.set(this.readUnreadable()) },
    );
    this.#gauge("db_client_connection_count", "Connections of the pool.", {
      labelNames: ["db_system_name", "db_client_connection_state"],
      collect: (gauge) => {
        for (const state of ["used", "idle"] as const)
          gauge.set({ ...POOL, db_client_connection_state: state }, this.readPool()[state]);
      },
    });
    this.#gauge("db_client_connection_max", "Maximum number of connections of the pool to each server.", {
      labelNames: ["db_system_name"],
      collect: (gauge) => gauge.set(POOL, this.readPool().max),
    });
    this.#gauge("db_client_connection_pending_requests", "Operations that wait for a connection.", {
      labelNames: ["db_system_name"],
      collect: (gauge) => gauge.set(POOL, this.readPool().pending),
    });
  }

  /** Observes an operation that began at `started`, by `performance.now()`. */
  operation(system: DbSystem, name: string, started: number, error?: unknown): void {
    const error_type = error === undefined ? "" : typeOf(error);
    this.operationDuration.observe(
      { db_system_name: system, db_operation_name: name, error_type },
      (performance.now() - started) / 1000,
    );
  }

  async timed<T>(system: DbSystem, name: string, run: () => Promise<T>): Promise<T> {
    const started = performance.now();
    try {
      const result = await run();
      this.operation(system, name, started);
      return result;
    } catch (error) {
      this.operation(system, name, started, error);
      throw error;
    }
  }

  #histogram<const L extends string>(name: string, help: string, buckets: number[], labelNames: readonly L[] = []) {
    return new Histogram({ registers: [this.registry], name, help, buckets, labelNames });
  }

  #counter<const L extends string>(name: string, help: string, labelNames: readonly L[] = []): Counter<L> {
    return new Counter({ registers: [this.registry], name, help, labelNames });
  }

  /** @param options `collect` sets the gauge at each scrape. */
  #gauge<const L extends string>(name: string, help: string, { collect, ...options }: GaugeOptions<L> = {}): Gauge<L> {
    const gauge: Gauge<L> = new Gauge({
      ...options,
      registers: [this.registry],
      name,
      help,
      ...(collect && { collect: () => collect(gauge) }),
    });
    return gauge;
  }
}

type GaugeOptions<L extends string> = Pick<GaugeConfiguration<L>, "labelNames" | "aggregator"> & {
  collect?: (gauge: Gauge<L>) => void | Promise<void>;
};

/** Returns undefined if MongoDB fails or is slow: a scrape that waited for it would say nothing in an outage. */
function soon<T>(read: Promise<T>): Promise<T | undefined> {
  return Promise.race([read, setTimeout(MAX_READ_MS, undefined, { ref: false })]).catch(() => undefined);
}

function typeOf(error: unknown): string {
  if (error instanceof Problem) return error.code;
  return error instanceof Error ? error.name : "Error";
}
