/**
 * Runs a scenario of test/load/lib in k6. One virtual user sends many requests at once, so all counts are in one place.
 * The environment names the target: BASE_URL and KEYS, see test/load/README.md.
 */
import exec from "k6/execution";
import http from "k6/http";
import { Counter, Trend } from "k6/metrics";
import { UsageError } from "../lib/host.ts";
import { Run } from "../lib/run.ts";
import { linesOf, runScenario } from "../lib/scenarios.ts";
import { readSettings } from "../lib/settings.ts";

const settings = readSettings(__ENV);
const COLUMNS = ["offered", "admitted", "refused", "failed"];

const requests = new Counter("requests");
const latency = new Trend("latency", true);
const proved = new Counter("proved");

/** k6 counts a tag's value separately only if a threshold names it. */
function countedForSummary() {
  const rows = [...settings.keys.map((_, key) => `key_${key + 1}`), "all_keys"];
  return Object.fromEntries(
    rows.flatMap((row) => COLUMNS.map((column) => [`requests{row:${row},column:${column}}`, ["count>=0"]])),
  );
}

export const options = {
  scenarios: {
    main: {
      executor: "per-vu-iterations",
      vus: 1,
      iterations: 1,
      maxDuration: `${Math.ceil((settings.durationMs + settings.maxWaitMs) / 1000 + 300)}s`,
      gracefulStop: "0s",
    },
  },
  thresholds: { proved: ["count==1"], ...countedForSummary() },
  summaryTrendStats: ["min", "med", "p(99)", "max"],
  batchPerHost: settings.connections, // also the number of connections that k6 keeps open
  batch: settings.connections,
  userAgent: "onboarding-load-k6",
};

const host = {
  async exchange({ method, url, headers, body, surface }) {
    const response = await http.asyncRequest(method, url, body ?? null, {
      headers,
      timeout: "30s",
      redirects: 0,
      responseType: "text",
      tags: { name: surface },
    });
    return {
      status: response.status,
      headers: Object.fromEntries(Object.entries(response.headers).map(([name, value]) => [name.toLowerCase(), value])),
      body: response.status === 0 ? response.error : (response.body ?? ""),
      ms: response.timings.duration,
    };
  },
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, Math.max(0, ms))),
  say: (line) => console.log(line),
  stopped: () => false, // k6 itself ends the run
  seen({ key, verdict, fault, answer }) {
    const count = (column) => {
      for (const row of [`key_${key + 1}`, "all_keys"]) requests.add(1, { row, column });
    };
    if (fault !== undefined) count("failed");
    if (verdict === "free" || verdict === "rejected") return;
    count("offered");
    if (verdict === "admitted") count("admitted");
    if (verdict === "account" || verdict === "key") count("refused");
    latency.add(answer.ms);
  },
};

/** Runs the scenario. k6 then exits with 0 only if it proved all that it demands. */
export async function play(name) {
  try {
    const report = await runScenario(name, new Run(settings, host));
    for (const line of linesOf(report)) (report.proved ? console.log : console.warn)(line);
    if (report.proved) proved.add(1);
  } catch (error) {
    if (error instanceof UsageError) exec.test.abort(error.message);
    exec.test.abort(error.stack ?? String(error));
  }
}

/** Prints what was offered, admitted, refused and failed, for each key and the account. */
export function handleSummary({ metrics }) {
  const count = (row, column) => metrics[`requests{row:${row},column:${column}}`]?.values.count ?? 0;
  const line = (cells) =>
    cells.map((cell, column) => (column === 0 ? cell.padEnd(10) : String(cell).padStart(10))).join("");
  const rows = [...settings.keys.map((_, key) => `key_${key + 1}`), "all_keys"].map((row) =>
    line([row.replace("_", " "), ...COLUMNS.map((column) => count(row, column))]),
  );
  const times = metrics.latency?.values;
  const speed =
    times === undefined ? [] : [`latency: p50 ${times.med.toFixed(1)} ms, p99 ${times["p(99)"].toFixed(1)} ms`];
  const ending = metrics.proved?.values.count === 1 ? "proved" : "NOT proved: the lines above say why";
  return { stdout: ["", line(["", ...COLUMNS]), ...rows, "", ...speed, ending, ""].join("\n") };
}
