import { setTimeout as wait } from "node:timers/promises";
import { ACCOUNT_LIMIT, KEY_LIMIT, nothingOf } from "../admits.ts";
import { measure, type Slice, type Target } from "../alternate.ts";
import type { Bench } from "../bench.ts";
import { lineChart, type Point, stackedBars } from "../charts.ts";
import type { Contender } from "../contenders.ts";
import type { Rounds } from "../in-turns.ts";
import type { Chart } from "../report.ts";
import { startContender } from "../start-contender.ts";
import { spreadOf } from "../stats.ts";

const LOADS = [1, 8, 32, 128];
const REPEATS = 3;

const WINDOW_SECONDS = 2;
/** Requests in a second, in the plot of the edge. Far above the limit. */
const RATE = 20;
/** The run begins this long before the first edge, and lasts until after the second. In seconds. */
const BEFORE_EDGE = 1;
const EDGE_RUN = 3.8;
const EDGE_CONNECTIONS = 4;

/** A contender and its server. */
export interface Under {
  readonly contender: Contender;
  readonly target: Target;
}

/** Plots CPU by contender, of both phases. */
export function cpuChart(slices: Rounds<Slice>, titles: ReadonlyMap<string, string>): Chart {
  const points = [...titles].flatMap(([id, title]): Point[] => {
    const of = (what: "server" | "redis") => spreadOf((slices.get(id) ?? []).map((slice) => slice[what])).median;
    return [
      { series: "server", x: title, y: of("server") },
      { series: "Redis", x: title, y: of("redis") },
    ];
  });
  const totals = [...titles.values()].map((title) => ({
    title,
    total: points.filter(({ x }) => x === title).reduce((sum, { y }) => sum + y, 0),
  }));
  const [cheapest] = totals.toSorted((a, b) => a.total - b.total);
  const dearest = totals.toSorted((a, b) => b.total - a.total)[0];
  return stackedBars({
    title: `A request costs ${cheapest?.total.toFixed(0) ?? "?"} µs (${cheapest?.title ?? ""}) to ${dearest?.total.toFixed(0) ?? "?"} µs (${dearest?.title ?? ""})`,
    caption: "CPU for each request, medians over the rounds: of the server process with all its threads, and of Redis.",
    xTitle: "CPU for each request, µs",
    yTitle: "",
    points,
  });
}

/** Measures latency at several loads. */
export async function latencyChart(bench: Bench, servers: readonly Under[]): Promise<Chart> {
  const points: Point[] = [];
  const seconds = bench.options.slice;
  for (const connections of LOADS) {
    const medians = new Map<string, number[]>();
    for (let n = 0; n < REPEATS; n++) {
      for (const { contender, target } of servers) {
        const { p50 } = await measure(bench, target, { connections, seconds });
        medians.set(contender.title, [...(medians.get(contender.title) ?? []), p50]);
      }
    }
    for (const [series, values] of medians) points.push({ series, x: connections, y: spreadOf(values).median });
  }
  const most = Math.max(...LOADS);
  const atMost = points.filter(({ x }) => x === most).toSorted((a, b) => a.y - b.y);
  const [fastest, slowest] = [atMost[0], atMost.at(-1)];
  return lineChart({
    title: `At ${most} connections the median is ${fastest?.y.toFixed(0) ?? "?"} ms (${fastest?.series ?? ""}) to ${slowest?.y.toFixed(0) ?? "?"} ms (${slowest?.series ?? ""})`,
    caption: `Each connection sends its next request when it has the answer to the last. Medians of ${REPEATS} runs of ${seconds} s. All share this machine's cores with the load generator, so latency grows with the cost of a request.`,
    xTitle: "connections (logarithmic)",
    yTitle: "median latency, ms (logarithmic)",
    points,
    log: true,
  });
}

/** Offers far more than the limit across two edges of the clock's window, and plots what is admitted. */
export async function edgeChart(bench: Bench, contenders: readonly Contender[]): Promise<Chart> {
  const limits = { accountLimit: ACCOUNT_LIMIT, keyLimit: KEY_LIMIT, windowSeconds: WINDOW_SECONDS };
  const windowMs = WINDOW_SECONDS * 1000;
  const points: Point[] = [];
  const totals: string[] = [];
  for (const contender of contenders) {
    const [account, other] = [await bench.account(1), await bench.account(1)];
    const server = await startContender(bench, contender, limits);
    const requests = [nothingOf(account, 0)];
    const admittedAt = await bench.generator.connected(server.ready.port, EDGE_CONNECTIONS, async (load) => {
      await load({ requests: [nothingOf(other, 0)], seconds: 10, count: KEY_LIMIT }); // connects to Redis
      await wait(2 * windowMs - BEFORE_EDGE * 1000 - (Date.now() % windowMs), undefined, { signal: bench.signal });
      return (await load({ requests, seconds: EDGE_RUN, rate: RATE })).admittedAt ?? [];
    });
    await server.stop();
    points.push(...steps(contender.title, admittedAt));
    totals.push(`${contender.title}: ${admittedAt.length}`);
  }
  const offered = Math.floor(EDGE_RUN * RATE);
  return lineChart({
    title: `Admitted across two edges of the window, of ${offered} requests: ${totals.join("; ")}`,
    caption: `One key, ${RATE} requests a second, ${KEY_LIMIT} allowed in each window of ${WINDOW_SECONDS} s of the clock; the edges are at 0 and ${WINDOW_SECONDS} s. Right are ${KEY_LIMIT} admitted before the first edge, ${KEY_LIMIT} between them and ${KEY_LIMIT} after the second, at once. A window that begins with the first request, or slides, starts anew at other times.`,
    xTitle: `seconds from the first edge; ${RATE} requests are offered in each`,
    yTitle: "requests admitted so far",
    points,
    steps: true,
    edges: [0, WINDOW_SECONDS],
  });
}

function steps(series: string, admittedAt: readonly number[]): Point[] {
  const rises = admittedAt.toSorted((a, b) => a - b).map((at, n) => ({ series, x: at - BEFORE_EDGE, y: n + 1 }));
  return [{ series, x: -BEFORE_EDGE, y: 0 }, ...rises, { series, x: EDGE_RUN - BEFORE_EDGE, y: admittedAt.length }];
}
