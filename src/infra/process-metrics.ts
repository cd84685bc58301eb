import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import { AggregatorRegistry, collectDefaultMetrics, Gauge, type Registry } from "prom-client";
import { serviceInfo } from "./service-info.ts";

/** Time between samples of the event loop's delay, in milliseconds. Each sample includes it. */
const RESOLUTION_MS = 10;
/** The delay is that of the last complete period of this length, and of the one that has begun. In milliseconds. */
const PERIOD_MS = 10_000;
const NS_PER_S = 1e9;

/** Left out: what has an OpenTelemetry name below, and what visits every handle, which is slow with 10,000 connections. */
const LEFT_OUT = /^nodejs_(eventloop_lag|active_)/;

let registry: Registry | undefined;

/** Metrics of this process: CPU, memory, garbage collection, event loop. Collects from the first call on. */
export function processMetrics(): Registry {
  if (registry !== undefined) return registry;
  registry = new AggregatorRegistry(); // in a worker, it responds to the supervisor's clusterMetrics()
  // prom-client's own monitor cannot be switched off, so let it sample rarely.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 1_000 });
  for (const { name } of registry.getMetricsAsArray()) if (LEFT_OUT.test(name)) registry.removeSingleMetric(name);
  watchEventLoop(registry);
  const { name, version } = serviceInfo();
  new Gauge({
    name: "target_info",
    help: "The service and its version.",
    labelNames: ["service_name", "service_version"],
    registers: [registry],
    aggregator: "max",
  }).set({ service_name: name, service_version: version }, 1);
  return registry;
}

type Delay = Readonly<{ p99: number; max: number; utilization: number }>;

function watchEventLoop(register: Registry): void {
  let current = startMonitor();
  let last: Delay = { p99: 0, max: 0, utilization: 0 };
  setInterval(() => {
    const next = startMonitor(); // the two overlap, because a new one misses what happens before its first sample
    setTimeout(() => {
      last = delayOf(current);
      current.histogram.disable();
      current = next;
    }, 2 * RESOLUTION_MS).unref();
  }, PERIOD_MS).unref();

  const gauge = (name: string, help: string, member: keyof Delay): void => {
    const collect = () => made.set(Math.max(last[member], delayOf(current)[member]));
    const made: Gauge = new Gauge({ name, help, registers: [register], aggregator: "max", collect });
  };
  gauge("nodejs_eventloop_delay_p99_seconds", "99th percentile of the event loop's delay.", "p99");
  gauge("nodejs_eventloop_delay_max_seconds", "Maximum delay of the event loop.", "max");
  gauge("nodejs_eventloop_utilization_ratio", "Share of the time that the event loop worked.", "utilization");
}

function startMonitor() {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  histogram.enable();
  return { histogram, began: performance.eventLoopUtilization() };
}

function delayOf({ histogram, began }: ReturnType<typeof startMonitor>): Delay {
  const { utilization } = performance.eventLoopUtilization(began);
  return { p99: secondsOf(histogram.percentile(99)), max: secondsOf(histogram.max), utilization };
}

/** Returns a sample in seconds, less the wait between samples. Without samples the monitor says less than a microsecond. */
function secondsOf(ns: number): number {
  return Math.max(0, ns / NS_PER_S - RESOLUTION_MS / 1000);
}
