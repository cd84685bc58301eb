import { availableParallelism } from "node:os";
import { measure, type Target } from "../alternate.ts";
import type { Bench } from "../bench.ts";
import { commandsRow } from "../commands-row.ts";
import { compare, inTurns } from "../in-turns.ts";
import { notMeasured, type Row, type Section, showRatio } from "../report.ts";
import { startService } from "../service.ts";
import { childrenOf } from "../sockets.ts";
import { spreadOf } from "../stats.ts";

const COUNTS = [1, 2, 4] as const;
const CONNECTIONS = 64;
/** Cores that the load generator and Redis keep busy. */
const OTHERS = 2;
/** "Near-linear": this share of the processes' number. */
const NEAR = 0.8;

/** Measures one port with 1, 2 and 4 processes. A dry run is charged and validated, and asks nothing of MongoDB. */
export async function replicaRows(bench: Bench): Promise<Section> {
  const targets: Target[] = [];
  for (const count of COUNTS) {
    const service = await startService(bench, { REPLICAS: `${count}` });
    const pids = count === 1 ? [service.child.pid] : childrenOf(service.child.pid);
    const requests = [service.text("POST", "/candidates?dry_run=true", {}, "{}")];
    targets.push({ id: `${count}`, pids, port: service.port, requests, status: 200 });
  }
  const { slice, warmUp } = bench.options;
  const load = (target: Target, seconds: number) => measure(bench, target, { connections: CONNECTIONS, seconds });
  for (const target of targets) await load(target, warmUp);
  const pairs = COUNTS.slice(1).map((count) => [`${count}`, "1"] as const);
  const rate = ({ count, seconds }: { count: number; seconds: number }) => count / seconds;
  const measures = targets.map((target) => [target.id, () => load(target, slice)] as const);
  const rounds = await inTurns(bench.options, Object.fromEntries(measures), { compared: pairs, cost: rate });
  const cores = availableParallelism();
  const table = targets.map(({ id }) => {
    const slices = rounds.get(id) ?? [];
    const of = (what: "server" | "redis" | "waited") => spreadOf(slices.map((slice) => slice[what])).median;
    return [
      id,
      spreadOf(slices.map(rate)).median.toFixed(0),
      of("server").toFixed(0),
      of("redis").toFixed(0),
      `${(100 * of("waited")).toFixed(0)} %`,
    ];
  });
  return {
    title: `REPLICAS 1, 2 and 4 on ${cores} cores`,
    tables: [
      {
        title: "Throughput of one port",
        head: ["REPLICAS", "requests/s", "server CPU µs", "Redis CPU µs", "waits"],
        rows: table,
        caption: `The load generator and Redis share the ${cores} cores with the processes.`,
      },
    ],
    rows: [
      ...COUNTS.slice(1).map((count, place): Row => {
        const what = `throughput of ${count} processes`;
        const bound = `>= ${NEAR * count} x one process, on free cores`;
        const ratio = compare(rounds, pairs[place] ?? ["", ""], rate);
        if (cores < count + OTHERS)
          return {
            ...notMeasured(what, bound, `${showRatio(ratio)} on ${cores} cores; needs ${count + OTHERS}`),
            needsCores: true,
          };
        const verdict = ratio.noisy ? "too noisy" : ratio.median >= NEAR * count ? "met" : "not met";
        return { what, bound, measured: showRatio(ratio), verdict };
      }),
      await commandsRow(bench, "Redis commands a request", targets, { connections: CONNECTIONS, exactly: 1 }),
    ],
    charts: [],
  };
}
