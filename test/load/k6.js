/**
 * Runs a scenario of test/load/lib in k6. One virtual user sends many requests at once, so all counts are in one place.
 * The environment names the target: BASE_URL and KEYS, see test/load/README.md.
 */
import exec from "k6/execution";
import http from "k6/http";
import { Counter } from "k6/metrics";
import { UsageError } from "./lib/host.ts";
import { runScenario } from "./lib/scenarios.ts";
import { readSettings } from "./lib/settings.ts";

const settings = readSettings(__ENV);
const proved = new Counter("proved");

export const options = {
  scenarios: {
    main: {
      executor: "per-vu-iterations",
      vus: 1,
      iterations: 1,
      maxDuration: `${(settings.durationMs + 2 * settings.maxWaitMs) / 1000 + 600}s`,
      gracefulStop: "0s",
    },
  },
  thresholds: { proved: ["count==1"] }, // k6 exits with 0 only then
  batchPerHost: settings.connections, // also the number of connections that k6 keeps open
  batch: settings.connections,
  userAgent: "onboarding-load-k6",
};

async function exchange({ method, url, headers, body, surface }) {
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
}

export async function play(name) {
  try {
    if (await runScenario(name, settings, { exchange, say: (line) => console.log(line) })) proved.add(1);
  } catch (error) {
    exec.test.abort(error instanceof UsageError ? error.message : (error.stack ?? String(error)));
  }
}

/** Prints nothing: the scenario has printed its result, and k6's own summary would bury it. */
export const handleSummary = () => ({});
