import { setTimeout as wait } from "node:timers/promises";
import type { Bench } from "../bench.ts";
import { cpuOf } from "../cpu.ts";
import { requestText, type Run, type RunResult } from "../load.ts";
import { commandsRow } from "../redis-commands.ts";
import { ratioRow, type Row } from "../report.ts";
import { startService } from "../service.ts";
import { ratioOf } from "../stats.ts";

/** Keys that poll at once, each of an account of its own and on a connection of its own. */
const TOGETHER = 32;
/** Groups of keys for each round of other measurements: these slices are short. */
const MORE_ROUNDS = 5;
/** What a poll leaves to do is done by then. */
const AFTERWARDS_MS = 10;

/**
 * Measures the poll of a client that comes back after a quarter of an hour. Every key polls once, then `others` are measured,
 * then it polls three times in a row. What the service forgets, it forgets by then: a minute is enough.
 * @returns the rows of the others too.
 */
export async function pollRows(bench: Bench, others: () => Promise<readonly Row[]>): Promise<Row[]> {
  const { rounds, warmUp } = bench.options;
  const service = await startService(bench);
  const { child, port } = service;
  const groups: string[][] = [];
  for (let n = 0; n < MORE_ROUNDS * rounds; n++) groups.push(await pollsOfNewKeys(bench));
  const counted = await pollsOfNewKeys(bench);
  const heated = (use: (load: Load) => Promise<void>) =>
    bench.generator.connected(port, TOGETHER, async (load) => {
      await load({ requests: [service.text("GET", "/candidates")], seconds: warmUp });
      await use(load);
    });
  await heated(async (load) => {
    for (const group of [...groups, counted]) await pollOnce(load, group);
  });
  const rows = await others();
  const [cold, again]: [number[], number[]] = [[], []];
  await heated(async (load) => {
    const cpuOfPolls = async (group: readonly string[]) => {
      const before = cpuOf(child.pid);
      await pollOnce(load, group);
      await wait(AFTERWARDS_MS);
      return cpuOf(child.pid) - before;
    };
    for (const group of groups) {
      cold.push(await cpuOfPolls(group));
      again.push(((await cpuOfPolls(group)) + (await cpuOfPolls(group))) / 2);
    }
  });
  const ratio = ratioOf(cold, again);
  const polls = { connections: TOGETHER, count: TOGETHER, exactly: 1 };
  return [
    ...rows,
    ratioRow("poll by a key last seen 15 minutes ago, server CPU", ratio, 1.2, "the same a second later"),
    await commandsRow(bench, "Redis commands of such a poll", { port, requests: counted }, polls),
  ];
}

type Load = (run: Run) => Promise<RunResult>;

/** Sends each request once, on a connection of its own. */
async function pollOnce(load: Load, requests: readonly string[]): Promise<void> {
  const { statuses } = await load({ requests, seconds: 60, count: requests.length });
  if (statuses[200] !== requests.length) throw new Error(`Polls were answered ${JSON.stringify(statuses)}.`);
}

/** Creates accounts of one key each. @returns a poll of each. */
async function pollsOfNewKeys(bench: Bench): Promise<string[]> {
  const accounts = await Promise.all(Array.from({ length: TOGETHER }, () => bench.account(1)));
  return accounts.map(({ keys: [key = ""] }) => requestText("GET", "/candidates", { Authorization: `Bearer ${key}` }));
}
