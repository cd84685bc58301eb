import { expect } from "chai";
import type { Registry } from "prom-client";
import { Metrics } from "../../src/infra/metrics.ts";
import { processMetrics } from "../../src/infra/process-metrics.ts";
import { problem } from "../../src/problems.ts";
import { Scrape } from "../support/metrics.ts";

/** What prom-client's metrics have beside the members that its types declare. */
interface Declared {
  readonly name: string;
  readonly type: string;
  readonly aggregator?: string;
  readonly labelNames: readonly string[];
  readonly upperBounds?: readonly number[];
}

/** Returns the type, the aggregation and the labels of each metric. */
function declared(registry: Registry): Record<string, string> {
  const metrics = registry.getMetricsAsArray() as unknown as Declared[];
  return Object.fromEntries(
    metrics.map(({ name, aggregator, labelNames, type, upperBounds }) => {
      const words = [type, aggregator ?? "sum", ...[...labelNames].toSorted()];
      return [name, [...words, ...(upperBounds === undefined ? [] : [upperBounds.join("/")])].join(" ")];
    }),
  );
}

describe("The metrics of the service", () => {
  it("have these names, aggregations, labels and buckets", () => {
    const request = "http_request_method http_response_status_code http_route";
    expect(declared(new Metrics().registry)).to.deep.equal({
      http_server_request_duration_seconds: `histogram sum ${request} 0.005/0.01/0.025/0.05/0.075/0.1/0.25/0.5/0.75/1/2.5/5/7.5/10`,
      http_server_active_requests: "gauge sum",
      limiter_decisions_total: "counter sum scope surface verdict",
      limiter_decision_duration_seconds: "histogram sum 0.0005/0.001/0.0025/0.005/0.01/0.025/0.05/0.1/0.25/1",
      limiter_outages_total: "counter sum",
      limiter_local_decisions_total: "counter sum surface",
      limiter_repeated_refusals_total: "counter sum scope surface",
      dependency_up: "gauge min db_system_name",
      db_client_operation_duration_seconds:
        "histogram sum db_operation_name db_system_name error_type 0.001/0.005/0.01/0.05/0.1/0.5/1/5/10",
      db_client_connection_timeouts_total: "counter sum db_system_name",
      redis_memory_used_bytes: "gauge max",
      redis_memory_max_bytes: "gauge max",
      redis_memory_nearly_full: "gauge max",
      redis_maxmemory_policy_unsafe: "gauge max",
      onboarding_restoring: "gauge max",
      sweep_runs_total: "counter sum outcome sweep",
      sweep_items_total: "counter sum sweep",
      sweep_last_success_timestamp_seconds: "gauge max sweep",
      webhook_lag_seconds: "gauge max",
      webhook_nudges_total: "counter sum outcome",
      webhooks_disabled_total: "counter sum reason",
      outreach_messages_total: "counter sum outcome recipient",
      outreach_mail_outages_total: "counter sum",
      outreach_messages_today: "gauge max",
      outreach_messages_today_of_one_account: "gauge max",
      limiter_account_refusals: "gauge sum account surface",
      feed_lag_seconds: "gauge max",
      feed_unsettled_writes: "gauge sum",
      onboarding_unreadable_records: "gauge max",
      db_client_connection_count: "gauge sum db_client_connection_state db_system_name",
      db_client_connection_max: "gauge sum db_system_name",
      db_client_connection_pending_requests: "gauge sum db_system_name",
    });
  });

  it("show an empty feed and pool until they are watched, and then what is read", async () => {
    const metrics = new Metrics();
    const shown = async () => {
      const scrape = new Scrape(await metrics.registry.metrics());
      const connections = (state: string) =>
        scrape.value("db_client_connection_count", { db_system_name: "mongodb", db_client_connection_state: state });
      const pool = (name: string) => scrape.value(`db_client_connection_${name}`, { db_system_name: "mongodb" });
      return [
        [scrape.value("feed_lag_seconds"), scrape.value("feed_unsettled_writes")],
        [connections("used"), connections("idle"), pool("pending_requests"), pool("max")],
      ];
    };
    expect(await shown()).to.deep.equal([
      [0, 0],
      [0, 0, 0, 0],
    ]);
    metrics.readFeed = () => ({ lagMs: 1500, unsettled: 2 });
    metrics.readPool = () => ({ used: 3, idle: 4, pending: 5, max: 6 });
    expect(await shown()).to.deep.equal([
      [1.5, 2],
      [3, 4, 5, 6],
    ]);
  });

  it("do not wait for MongoDB: what it does not tell soon is not known", async () => {
    const metrics = new Metrics();
    const reads = [() => new Promise<never>(() => undefined), () => Promise.reject(new Error("The store is down."))];
    for (const read of reads) {
      metrics.readMail = read;
      expect(await metrics.registry.metrics()).to.match(/^outreach_messages_today Nan$/m);
    }
  });

  it("name how an operation failed: the code of a problem, the name of an error, or Error", async () => {
    const metrics = new Metrics();
    const started = performance.now();
    metrics.operation("redis", "get", started);
    metrics.operation("redis", "get", started, problem("store_unavailable", "gone"));
    metrics.operation("redis", "get", started, new RangeError("far"));
    metrics.operation("redis", "get", started, "torn");
    const scrape = new Scrape(await metrics.registry.metrics());
    const counted = (error_type: string) =>
      scrape.value("db_client_operation_duration_seconds_count", {
        db_system_name: "redis",
        db_operation_name: "get",
        error_type,
      });
    expect(["", "store_unavailable", "RangeError", "Error"].map(counted)).to.deep.equal([1, 1, 1, 1]);
    expect(scrape.value("db_client_operation_duration_seconds_sum")).to.be.below(60);
  });
});

describe("The metrics of the process", () => {
  it("name the service, and describe the event loop by the highest value of all processes", () => {
    expect(declared(processMetrics())).to.include({
      target_info: "gauge max service_name service_version",
      nodejs_eventloop_delay_p99_seconds: "gauge max",
      nodejs_eventloop_delay_max_seconds: "gauge max",
      nodejs_eventloop_utilization_ratio: "gauge max",
    });
  });

  it("leave out those that visit every handle, and the event loop's of other names", () => {
    const names = Object.keys(declared(processMetrics()));
    expect(names).to.include.members(["process_cpu_seconds_total", "nodejs_gc_duration_seconds"]);
    expect(names.filter((name) => /active|lag/.test(name))).to.deep.equal([]);
  });
});
