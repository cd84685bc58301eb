import type { Redis } from "ioredis";
import type { Bench } from "../bench.ts";
import { fillAccounts } from "../charges.ts";
import { type EmptyDatabase, withEmptyDatabase } from "../empty-database.ts";
import { withRepeatedReplies } from "../repeated-replies.ts";
import { type Row, type Section, valueRow } from "../report.ts";
import { edgeRow } from "./limiter-edge.ts";
import { pollRows } from "./limiter-polls.ts";
import { scriptRow } from "./limiter-script.ts";

const WINDOW_SECONDS = 86_400;
/** Accounts whose memory is measured together. */
const ACCOUNTS = 3000;
const BYTES = 912;

/** Measures how many accounts and decisions one Redis bears, and what a poll costs after a pause. */
export function limiterSizeRows(bench: Bench): Promise<Section> {
  return withRepeatedReplies(bench, async (repeating) => ({
    title: "The limiter: what one Redis bears",
    tables: [],
    // The keys that poll have not been seen for a while once the others are measured.
    rows: await pollRows(repeating, () =>
      withEmptyDatabase(bench.redisUrl, async (database) => [
        await scriptRow(bench, database),
        await memoryRow(bench, database),
        await edgeRow(bench, database),
      ]),
    ),
  }));
}

/** Measures what an account takes in Redis: two keys that have used up all seven surfaces. */
async function memoryRow({ options }: Bench, { redis, charges }: EmptyDatabase): Promise<Row> {
  const accounts = Math.min(ACCOUNTS, options.edge.accounts);
  await fillAccounts(charges, accounts, WINDOW_SECONDS); // buffers and tables have their size afterwards
  await redis.flushdb("SYNC");
  const before = await usedMemory(redis);
  await fillAccounts(charges, accounts, WINDOW_SECONDS);
  const after = await usedMemory(redis);
  await redis.flushdb("SYNC");
  const show = (bytes: number) => `${bytes.toFixed(0)} bytes`;
  return valueRow("Redis memory of an account", (after - before) / accounts, BYTES, show);
}

async function usedMemory(redis: Redis): Promise<number> {
  return Number(/^used_memory:(\d+)/m.exec(await redis.info("memory"))?.[1]);
}
