import type { Bench } from "../bench.ts";
import { type Section, valueRow } from "../report.ts";
import { startMain } from "../service.ts";
import { isSteady, spreadOf } from "../stats.ts";

const STARTS = 9;

/** Measures the time from spawn to the process's own message that it is ready, compiled, with servers that run. */
export async function startRows(bench: Bench): Promise<Section> {
  const starts: number[] = [];
  await (await startMain(bench)).stop(); // creates the indexes, and brings the files into memory
  for (let n = 0; n < STARTS; n++) {
    bench.signal.throwIfAborted();
    const began = performance.now();
    const child = await startMain(bench);
    starts.push((performance.now() - began) / 1000);
    await child.stop();
  }
  const ready = spreadOf(starts);
  const row = valueRow("process start to ready", ready.median, 1, (seconds) => `${seconds.toFixed(2)} s`);
  return {
    title: `Start to ready, ${STARTS} starts`,
    tables: [],
    rows: [isSteady(ready) ? row : { ...row, measured: `too noisy (${STARTS} starts)`, verdict: "too noisy" }],
  };
}
