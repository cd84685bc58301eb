import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import { AggregatorRegistry, collectDefaultMetrics, Gauge, type Registry } from "prom-client";
import { serviceInfo } from "./service-info.ts";

/** How often the event loop's delay is sampled, in milliseconds. Each sample includes this wait itself. */
const RESOLUTION_MS = 10;
/** The delay is reported over the last complete period of this length, and the one that has begun. In milliseconds. */
const PERIOD_MS = 10_000;
const NS_PER_S = 1e9;

/** Left out: what has an OpenTelemetry name below, and what visits every handle, which is slow with 10,000 connections. */
const LEFT_OUT = [/^nodejs_eventloop_lag/, /^nodejs_active_/];

let registry: Registry | undefined;

/** Metrics of this process: CPU, memory, garbage collection, event loop. Collects from the first call on. */
export function processMetrics(): Registry {
  if (registry !== undefined) return registry;
  registry = new AggregatorRegistry(); // in a worker, it responds to the supervisor's clusterMetrics()
  // prom-client's own monitor cannot be switched off, so let it sample rarely.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 1_000 });
  for (const { name } of registry.getMetricsAsArray())
    if (LEFT_OUT.some((pattern) => pattern.test(name))) registry.removeSingleMetric(name);
  watchEventLoop(registry);
  nameService(registry);
  return registry;
}

function nameService(register: Registry): void {
  const { name, version } = serviceInfo();
  new Gauge({
    name: "target_info",
    help: "The service and its version.",
    labelNames: ["service_name", "service_version"],
    registers: [register],
    aggregator: "max",
  }).set({ service_name: name, service_version: version }, 1);
}

type Delay = Readonly<Record<"p99" | "max" | "utilization", number>>;

function watchEventLoop(register: Registry): void {
  let histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  let other = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  for (const each of [histogram, other]) each.enable();
  let began = performance.eventLoopUtilization();
  let last: Delay = { p99: 0, max: 0, utilization: 0 };

  const current = (): Delay => ({
    p99: delayOf(histogram.percentile(99)),
    max: delayOf(histogram.max),
    utilization: performance.eventLoopUtilization(began).utilization,
  });
  const endPeriod = (): void => {
    last = current();
    [histogram, other] = [other, histogram];
    began = performance.eventLoopUtilization();
  };
  // A monitor that was reset misses what happens before its next sample. So two take turns, and overlap.
  setInterval(() => {
    other.reset();
    setTimeout(endPeriod, 2 * RESOLUTION_MS).unref();
  }, PERIOD_MS).unref();

  const gauge = (name: string, help: string, member: keyof Delay): void => {
    const collect = () => made.set(Math.max(last[member], current()[member]));
    const made: Gauge = new Gauge({ name, help, registers: [register], aggregator: "max", collect });
  };
  gauge("nodejs_eventloop_delay_p99_seconds", "99th percentile of the event loop's delay.", "p99");
  gauge("nodejs_eventloop_delay_max_seconds", "Longest delay of the event loop.", "max");
  gauge("nodejs_eventloop_utilization_ratio", "Share of the time that the event loop worked.", "utilization");
}

/** Returns a sample in seconds, less the wait between samples. Without samples the monitor says less than a microsecond. */
function delayOf(ns: number): number {
  return Math.max(0, ns / NS_PER_S - RESOLUTION_MS / 1000);
}
