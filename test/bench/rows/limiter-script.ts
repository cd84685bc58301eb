import { createHash } from "node:crypto";
import type { Redis } from "ioredis";
import { runScript } from "../../../src/infra/scripts.ts";
import type { Bench } from "../bench.ts";
import { admit, callsOf, lookUpAccounts, numberedCall, sendAll } from "../charges.ts";
import type { EmptyDatabase } from "../empty-database.ts";
import { compare, inTurns } from "../in-turns.ts";
import { SCRIPT } from "../programs/bare.ts";
import { ratioRow, type Row } from "../report.ts";

const ACCOUNTS = 500;
const WINDOW_SECONDS = 86_400;
const NO_LIMIT = 600_000_000;
/** Charges of one slice. Redis measures by the clock, not by its CPU, so a slice is so short that few are interrupted. */
const SLICE = 128;
/** Slices are much shorter than those of other parts, so there are as many more of them. */
const MORE_ROUNDS = 64;
const PAIR = { measured: "charge.lua", reference: "bare", cost: (used: number) => used };

const BARE = { lua: SCRIPT, sha1: createHash("sha1").update(SCRIPT).digest("hex") };

/** Measures the time inside Redis, by its own INFO: scripts alone, without what it takes to read a command and answer it. */
export async function scriptRow({ options, prefix, signal }: Bench, { redis, charges }: EmptyDatabase): Promise<Row> {
  const admitted = (n: number) => admit(charges, numberedCall(n, WINDOW_SECONDS));
  const bare = (n: number) => {
    const { caller, surface } = numberedCall(n, WINDOW_SECONDS);
    const account = `${prefix}:{${caller.accountId}}:${surface}`;
    const limits = [NO_LIMIT, NO_LIMIT, WINDOW_SECONDS];
    return runScript(charges, BARE, [account, `${account}:${caller.keyId}`], limits, refuseOther);
  };
  const timeOf = async (send: (n: number) => Promise<unknown>) => {
    signal.throwIfAborted();
    const before = await scriptTime(redis);
    await sendAll(SLICE, () => send(Math.floor(Math.random() * callsOf(ACCOUNTS))));
    const after = await scriptTime(redis);
    return (after.used - before.used) / (after.calls - before.calls);
  };
  await lookUpAccounts(charges, 0, ACCOUNTS);
  for (const send of [admitted, bare]) await sendAll(callsOf(ACCOUNTS), send);
  const rounds = await inTurns(
    { rounds: MORE_ROUNDS * options.rounds, maxRounds: MORE_ROUNDS * options.maxRounds },
    { [PAIR.measured]: () => timeOf(admitted), [PAIR.reference]: () => timeOf(bare) },
    [PAIR],
  );
  await redis.flushdb("SYNC");
  return ratioRow("charge.lua inside Redis", compare(rounds, PAIR), 1.35, "the cheapest script");
}

function refuseOther(answer: unknown): void {
  if (answer !== 1) throw new Error(`The cheapest script was to admit, but answered ${String(answer)}.`);
}

/** Reads how many scripts the server has run, and how long they took inside it, in microseconds. */
async function scriptTime(redis: Redis): Promise<{ calls: number; used: number }> {
  const info = await redis.info("commandstats");
  const found = Array.from(info.matchAll(/^cmdstat_(?:evalsha|eval|fcall):calls=(\d+),usec=(\d+)/gm));
  const sum = (group: number) => found.reduce((total, match) => total + Number(match[group]), 0);
  return { calls: sum(1), used: sum(2) };
}
