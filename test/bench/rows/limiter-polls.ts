import { setTimeout as wait } from "node:timers/promises";
import type { Bench } from "../bench.ts";
import { rowOfCommands } from "../commands-row.ts";
import { cpuOf } from "../cpu.ts";
import { requestText, type Run, type RunResult } from "../load.ts";
import { commandsSent } from "../redis-commands.ts";
import { ratioRow, type Row } from "../report.ts";
import { startService } from "../service.ts";
import { ratioOf } from "../stats.ts";

/** Keys that poll at once, each of an account of its own and on a connection of its own. */
const TOGETHER = 32;
/** Groups of keys for each round of other measurements: these slices are short. */
const MORE_ROUNDS = 5;
/** What a poll leaves to do is done by then. */
const AFTERWARDS_MS = 10;

export interface Polls {
  measure(): Promise<readonly Row[]>;
}

/**
 * Measures the poll of a client that comes back after a quarter of an hour. Every key polls once now. In `measure`, after all
 * other measurements, it polls three times in a row. What the service forgets, it forgets by then: a minute is enough.
 */
export async function preparePolls(bench: Bench): Promise<Polls> {
  const { rounds, warmUp } = bench.options;
  const service = await startService(bench);
  const groups: string[][] = [];
  for (let n = 0; n < MORE_ROUNDS * rounds; n++) groups.push(await pollsOfNewKeys(bench));
  const counted = await pollsOfNewKeys(bench);
  const connected = <T>(use: (load: Load) => Promise<T>) => bench.generator.connected(service.port, TOGETHER, use);
  const heat = (load: Load) => load({ requests: [service.text("GET", "/candidates")], seconds: warmUp });
  await connected(async (load) => {
    await heat(load);
    for (const group of [...groups, counted]) await pollOnce(load, group);
  });
  const measure = (load: Load) => async (group: readonly string[]) => {
    const before = cpuOf(service.child.pid).used;
    await pollOnce(load, group);
    await wait(AFTERWARDS_MS);
    return cpuOf(service.child.pid).used - before;
  };
  return {
    async measure() {
      const [cold, again]: [number[], number[]] = [[], []];
      await connected(async (load) => {
        await heat(load);
        const cpuOfPolls = measure(load);
        for (const group of groups) {
          cold.push(await cpuOfPolls(group));
          const twice = [await cpuOfPolls(group), await cpuOfPolls(group)];
          again.push((twice[0]! + twice[1]!) / 2);
        }
      });
      const sent = await connected((load) => commandsSent(bench.redis, () => pollOnce(load, counted)));
      await service.child.stop();
      const what = "poll by a key last seen 15 minutes ago, server CPU";
      return [
        ratioRow(what, ratioOf(cold, again), 1.2, "the same a second later"),
        rowOfCommands("Redis commands of such a poll", sent, { requests: counted.length, exactly: 1 }),
      ];
    },
  };
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
