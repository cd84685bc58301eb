import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { stringify } from "yaml";
import { useStarted } from "../../support/use-started.ts";
import { startProgram } from "./program.ts";
import { alertsIn, faster, readGroups, ruleFile } from "./rules.ts";

/** The label `job` that the ServiceMonitor gives the service's series. */
export const JOB = "candidate-onboarding-service";
export const NAMESPACE = "onboarding";
/** The label `service`: the Service whose pods are scraped. It tells two installations in one namespace apart. */
export const SERVICE = "onboarding-ops";
export const SCRAPE_SECONDS = 0.5;
const STEADY_SECONDS = 5;
const POLL_MS = 100;
/** Longest wait for what must happen. Far more than any alert needs, because the machine may be busy. */
const DEADLINE_MS = 90_000;

export interface Alert {
  labels: Record<string, string> & { alertname: string };
  annotations: Record<string, string>;
  state: "pending" | "firing";
  value: string;
}

export interface Series {
  metric: Record<string, string>;
  /** Time in seconds, and the value as text. */
  value: [number, string];
}

/** A series over a range of time. */
export interface Range {
  metric: Record<string, string>;
  values: [number, string][];
}

export interface PrometheusOptions {
  /** For each job, the URL of what it scrapes. */
  readonly targets: Record<string, string>;
  /** Every duration in the rules is divided by this. */
  readonly times: number;
}

/** A real Prometheus that scrapes every 500 ms, with the rules of the cluster on a shorter scale of time. */
export interface Prometheus {
  readonly url: string;
  /** Evaluates a query now. */
  query(expr: string): Promise<Series[]>;
  /** Evaluates a query for every second from `start` (in seconds) until now, as Grafana does. */
  range(expr: string, start: number): Promise<Range[]>;
  /** Returns the values of a label among the series that a selector selects. */
  labelValues(label: string, selector: string): Promise<string[]>;
  /** Returns the names of all metrics that the targets declare, and of all labels. */
  exported(): Promise<{ metrics: Set<string>; labels: Set<string> }>;
  /** Waits until a query returns a series. @throws after 90 s. */
  until(expr: string): Promise<Series[]>;
  /** Waits until the alert fires. @throws after 90 s. */
  firing(name: string): Promise<Alert>;
  /** Waits until the alert no longer fires. @throws after 90 s. */
  quiet(name: string): Promise<void>;
  /**
   * Waits until each target has been scraped for 5 s without a failure, then returns the names of the alerts that fire,
   * except OnboardingEventLoopDelay: it may fire rightly, because the machine of the tests is too busy.
   */
  firingNow(): Promise<string[]>;
  stop(): Promise<void>;
}

/** Starts a Prometheus before the tests of the `describe` that calls this, and stops it after them. */
export function usePrometheus(options: () => PrometheusOptions): Prometheus {
  return useStarted(
    "Prometheus",
    () => startPrometheus(options()),
    (prometheus) => prometheus.stop(),
  );
}

export async function startPrometheus({ targets, times }: PrometheusOptions): Promise<Prometheus> {
  const dir = await mkdtemp(join(tmpdir(), "onboarding-prometheus-"));
  await writeFile(join(dir, "rules.yaml"), ruleFile(faster(readGroups(), times)));
  await writeFile(join(dir, "prometheus.yaml"), stringify(configFor(targets)));
  const server = await startProgram("prometheus", [
    `--config.file=${join(dir, "prometheus.yaml")}`,
    `--storage.tsdb.path=${join(dir, "data")}`,
    "--web.listen-address=127.0.0.1:0",
    // By default, a series that ended is remembered for five minutes. Here that would be hours.
    "--query.lookback-delta=2s",
  ]);
  const client = clientFor(server.url);
  await poll("Prometheus to be ready", async () => ((await fetch(`${server.url}/-/ready`)).ok ? true : undefined));
  return {
    ...client,
    async stop() {
      await server.stop();
      await rm(dir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function configFor(targets: Record<string, string>): object {
  const interval = `${SCRAPE_SECONDS * 1000}ms`;
  return {
    global: { scrape_interval: interval, scrape_timeout: interval, evaluation_interval: interval },
    rule_files: ["rules.yaml"],
    scrape_configs: Object.entries(targets).map(([job, url]) => ({
      job_name: job,
      static_configs: [{ targets: [new URL(url).host], labels: { namespace: NAMESPACE, service: SERVICE, pod: job } }],
    })),
  };
}

function clientFor(url: string): Omit<Prometheus, "stop"> {
  const alerts = async () => (await ask<{ alerts: Alert[] }>(`${url}/api/v1/alerts`)).alerts;
  const query = async (expr: string) =>
    (await ask<{ result: Series[] }>(`${url}/api/v1/query?query=${encodeURIComponent(expr)}`)).result;
  const until = (expr: string) =>
    poll(`a result of ${expr}`, async () => {
      const result = await query(expr);
      return result.length > 0 ? result : undefined;
    });
  const firing = async (name: string) =>
    (await alerts()).find(({ labels, state }) => labels.alertname === name && state === "firing");
  return {
    url,
    query,
    until,
    async range(expr, start) {
      const span = `start=${start}&end=${Date.now() / 1000}&step=1`;
      const found = await ask<{ result: Range[] }>(
        `${url}/api/v1/query_range?query=${encodeURIComponent(expr)}&${span}`,
      );
      return found.result;
    },
    labelValues: (label, selector) =>
      ask(`${url}/api/v1/label/${label}/values?match[]=${encodeURIComponent(selector)}`),
    async exported() {
      const [metadata, labels] = await Promise.all([
        ask<Record<string, unknown>>(`${url}/api/v1/metadata`),
        ask<string[]>(`${url}/api/v1/labels`),
      ]);
      return { metrics: new Set(Object.keys(metadata)), labels: new Set(labels) };
    },
    firing: (name) => poll(`the alert ${known(name)} to fire`, () => firing(name)),
    async quiet(name) {
      await poll(`the alert ${known(name)} to end`, async () => ((await firing(name)) ? undefined : true));
    },
    async firingNow() {
      await until("up"); // a new Prometheus scrapes nothing for five seconds
      const since = Date.now() / 1000;
      await until(`min(timestamp(up)) > ${since + STEADY_SECONDS} and min(min_over_time(up[${STEADY_SECONDS}s])) == 1`);
      return (await alerts())
        .filter(({ labels, state }) => state === "firing" && labels.alertname !== "OnboardingEventLoopDelay")
        .map(({ labels }) => labels.alertname);
    },
  };
}

/** Without this check, a test that waits for a misspelt alert to end would pass. */
function known(name: string): string {
  if (!alertsIn(readGroups()).some(({ alert }) => alert === name)) throw new Error(`There is no alert ${name}.`);
  return name;
}

async function ask<T>(url: string): Promise<T> {
  const response = (await (await fetch(url)).json()) as { status: string; error?: string; data: T };
  if (response.status !== "success") throw new Error(`Prometheus refused ${url}: ${response.error}`);
  return response.data;
}

async function poll<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  for (const deadline = performance.now() + DEADLINE_MS; performance.now() < deadline; await wait(POLL_MS)) {
    const found = await look();
    if (found !== undefined) return found;
  }
  throw new Error(`Waited ${DEADLINE_MS / 1000} s in vain for ${what}.`);
}
