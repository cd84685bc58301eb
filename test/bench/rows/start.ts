import { setTimeout as wait } from "node:timers/promises";
import type { Bench } from "../bench.ts";
import { cpuOf } from "../cpu.ts";
import { type Row, type Section, valueRow } from "../report.ts";
import { startMain, startService } from "../service.ts";
import { acceptedBy, childrenOf } from "../sockets.ts";
import { isSteady, type Spread, spreadOf } from "../stats.ts";

const STARTS = 9;
const PROCESSES = 4;
const CONNECTIONS = 64;
const OPENINGS = 5;
const BOUND = 1.5;
/** The kernel hands connections out within a few milliseconds. */
const ACCEPT_MS = 200;

/** Measures the time from spawn to ready, and how connections spread over the processes of one port. */
export async function startRows(bench: Bench): Promise<Section> {
  const starts: { seconds: number; cpu: number }[] = [];
  await (await startMain(bench, {})).stop(); // creates the indexes, and brings the files into memory
  for (let n = 0; n < STARTS; n++) {
    bench.signal.throwIfAborted();
    const began = performance.now();
    const child = await startMain(bench, {});
    starts.push({ seconds: (performance.now() - began) / 1000, cpu: cpuOf(child.pid).used / 1e6 });
    await child.stop();
  }
  const ready = spreadOf(starts.map(({ seconds }) => seconds));
  const cpu = spreadOf(starts.map(({ cpu }) => cpu));
  const show = (seconds: number) => `${seconds.toFixed(2)} s`;
  const spread = await connectionSpread(bench);
  return {
    title: "Processes",
    tables: [
      {
        title: `Start to ready, compiled, servers running: ${STARTS} starts`,
        head: ["", "median", "quartiles"],
        rows: [
          ["time", show(ready.median), `${show(ready.q1)}-${show(ready.q3)}`],
          ["CPU of all threads", show(cpu.median), `${show(cpu.q1)}-${show(cpu.q3)}`],
        ],
        caption: "From spawn to the process's own message that it is ready.",
      },
      {
        title: `${CONNECTIONS} connections opened at once to ${PROCESSES} processes of one port, ${OPENINGS} times`,
        head: ["time", "connections of each process"],
        rows: spread.map((counts, n) => [`${n + 1}`, counts.join(", ")]),
        caption: "Counted from the sockets that each process holds.",
      },
    ],
    rows: [startRow(ready, show), spreadRow(spread)],
    charts: [],
  };
}

function startRow(ready: Spread, show: (seconds: number) => string): Row {
  const row = valueRow("process start to ready", ready.median, 1, show);
  return isSteady(ready) ? row : { ...row, measured: `too noisy (${ready.rounds} starts)`, verdict: "too noisy" };
}

/** The worst opening counts. */
function spreadRow(openings: readonly (readonly number[])[]): Row {
  const worst = Math.max(...openings.map((counts) => Math.max(...counts) / Math.min(...counts)));
  const what = `connections over ${PROCESSES} processes, most over fewest`;
  const measured = Number.isFinite(worst) ? worst.toFixed(2) : "a process got none";
  return { what, bound: `<= ${BOUND}`, measured, verdict: worst <= BOUND ? "met" : "not met" };
}

async function connectionSpread(bench: Bench): Promise<number[][]> {
  const service = await startService(bench, { REPLICAS: `${PROCESSES}` });
  const workers = childrenOf(service.child.pid);
  const openings: number[][] = [];
  for (let n = 0; n < OPENINGS; n++) {
    const counts = await bench.generator.connected(service.port, CONNECTIONS, async () => {
      await wait(ACCEPT_MS);
      return workers.map((pid) => acceptedBy(pid, service.port));
    });
    openings.push(counts);
  }
  await service.child.stop();
  return openings;
}
