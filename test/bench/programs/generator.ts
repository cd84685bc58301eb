/** Sends load from a process of its own. The bench tells it what to do by messages: open, run, close. */
import { setTimeout as wait } from "node:timers/promises";
import { Connection } from "./connection.ts";

export type Order =
  | { readonly do: "open"; readonly port: number; readonly connections: number }
  | {
      readonly do: "run";
      /** Whole requests. Connection n sends number n, n + connections …, again from the first after the last. */
      readonly requests: readonly string[];
      readonly seconds: number;
      /** Stops after this many requests. */
      readonly count?: number;
      /** Requests that begin in a second, over all connections; without it each connection sends without pause. */
      readonly rate?: number;
    }
  | { readonly do: "close" };

export interface RunResult {
  /** How many answers had each status. */
  readonly statuses: Record<string, number>;
  readonly count: number;
  readonly seconds: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

let connections: Connection[] = [];

async function run({ requests, seconds, count = Infinity, rate }: Extract<Order, { do: "run" }>): Promise<RunResult> {
  const sent = requests.map((text) => Buffer.from(text));
  const statuses: Record<string, number> = {};
  const latencies: number[] = [];
  let started = 0;
  const begin = performance.now();
  const end = begin + seconds * 1000;
  const lane = async (connection: Connection, first: number) => {
    for (let turn = first; performance.now() < end && started < count; turn += connections.length) {
      const place = started++;
      if (rate !== undefined) await wait(Math.max(0, Math.min(begin + (place / rate) * 1000, end) - performance.now()));
      const at = performance.now();
      if (at >= end) return;
      const status = await connection.send(sent[turn % sent.length]!);
      latencies.push(performance.now() - at);
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
  };
  await Promise.all(connections.map(lane));
  const took = (performance.now() - begin) / 1000;
  const sorted = Float64Array.from(latencies).toSorted();
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
  return {
    statuses,
    count: latencies.length,
    seconds: took,
    p50: at(0.5),
    p99: at(0.99),
  };
}

async function obey(order: Order): Promise<RunResult | undefined> {
  if (order.do === "run") return run(order);
  for (const connection of connections) connection.close();
  const count = order.do === "open" ? order.connections : 0;
  const port = order.do === "open" ? order.port : 0;
  connections = await Promise.all(Array.from({ length: count }, () => Connection.open(port)));
  return undefined;
}

process.on("disconnect", () => process.exit());
process.on("message", (order: Order) => {
  obey(order).then(
    (result) => process.send?.({ result }),
    (error: Error) => process.send?.({ error: error.message }),
  );
});
process.send?.({ type: "ready" });
