import type { Redis } from "ioredis";
import { fillAccounts } from "../charges.ts";
import type { FilledBench } from "../empty-database.ts";
import { type Row, valueRow } from "../report.ts";

const WINDOW_SECONDS = 86_400;
const ACCOUNTS = 3000;
const BOUND = 912;

/** Measures what an account takes in Redis: two keys that have used up all seven surfaces. */
export async function accountMemoryRow({ redis, charges, options }: FilledBench): Promise<Row> {
  const accounts = Math.min(ACCOUNTS, options.edge.accounts);
  await fillAccounts(charges, accounts, WINDOW_SECONDS); // buffers and tables have their size afterwards
  await redis.flushdb("SYNC");
  const before = await usedMemory(redis);
  await fillAccounts(charges, accounts, WINDOW_SECONDS);
  const after = await usedMemory(redis);
  await redis.flushdb("SYNC");
  const show = (bytes: number) => `${bytes.toFixed(0)} bytes`;
  return valueRow("Redis memory of an account", (after - before) / accounts, BOUND, show);
}

async function usedMemory(redis: Redis): Promise<number> {
  return Number(/^used_memory:(\d+)/m.exec(await redis.info("memory"))?.[1]);
}
