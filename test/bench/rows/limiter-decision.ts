import { callsAdmitted, ACCOUNT_LIMIT, KEY_LIMIT, nothingOf, wrongWith } from "../admits.ts";
import { measure, serverCpu, type Slice, type Target } from "../alternate.ts";
import type { Bench } from "../bench.ts";
import { commandsRow } from "../commands-row.ts";
import { CONTENDERS } from "../contenders.ts";
import { compare, inTurns, type Rounds } from "../in-turns.ts";
import { DECIDES_ALL } from "../programs/serve.ts";
import { ratioRow, type Row, type Table } from "../report.ts";
import { startContender } from "../start-contender.ts";
import { spreadOf } from "../stats.ts";

const CONNECTIONS = 32;
const WINDOW_SECONDS = 86_400;
/** More than any run sends. */
const NO_LIMIT = { accountLimit: 600_000_000, keyLimit: 300_000_000, windowSeconds: WINDOW_SECONDS };
const USED_UP = { accountLimit: ACCOUNT_LIMIT, keyLimit: KEY_LIMIT, windowSeconds: WINDOW_SECONDS };
/** This part has three minutes: noise adds few rounds. */
const MAX_ROUNDS = 24;

const OF_REDIS = ["ours", "two consumes"] as const;
const OF_REFUSALS = ["repeated", "decided"] as const;

export interface DecisionRows {
  readonly ofRedis: readonly Row[];
  readonly ofRefusals: readonly Row[];
  readonly tables: readonly Table[];
}

/** Measures what a decision costs Redis, beside two consumes, and what a flood of refusals costs the server. */
export async function decisionRows(bench: Bench): Promise<DecisionRows> {
  const { ours, consumes, repeated, decided, refusing, stop } = await startAll(bench);
  const options = { ...bench.options, maxRounds: Math.min(MAX_ROUNDS, bench.options.maxRounds) };
  const slice = (target: Target, seconds = options.slice) =>
    measure(bench, target, { connections: CONNECTIONS, seconds });
  for (const target of [ours, consumes, repeated, decided, refusing]) await slice(target, options.warmUp);
  const decisions = await inTurns(
    options,
    { ours: () => slice(ours), "two consumes": () => slice(consumes) },
    { compared: [OF_REDIS], cost: redisCpu },
  );
  const flooded = await inTurns(
    options,
    { repeated: () => slice(repeated), decided: () => slice(decided), refusing: () => slice(refusing) },
    { compared: [OF_REFUSALS], cost: serverCpu },
  );
  const counted = (what: string, target: Target, exactly: number) =>
    commandsRow(bench, what, [target], { connections: CONNECTIONS, exactly });
  await slice(repeated); // the first refusals of a flood are decided by Redis
  const ofRepeated = await counted("Redis commands of a refusal", repeated, 0);
  const rows = {
    ofRedis: [
      ratioRow("Redis CPU of a decision", compare(decisions, OF_REDIS, redisCpu), 0.75, "two consumes"),
      await counted("Redis round trips of a decision", ours, 1),
    ],
    ofRefusals: [
      ratioRow(
        "a flood of refusals, server CPU",
        compare(flooded, OF_REFUSALS, serverCpu),
        0.6,
        "each decided by Redis",
      ),
      ofRepeated,
    ],
    tables: [costTable(decisions, flooded)],
  };
  await stop();
  return rows;
}

function redisCpu({ redis }: Slice): number {
  return redis;
}

async function startAll(bench: Bench) {
  const [contender, flexible] = [contenderOf("ours"), contenderOf("flexible")];
  const account = await bench.account(2);
  // First, while nothing is charged: both servers of ours have the same counters.
  const small = await startContender(bench, contender, USED_UP);
  const wrong = wrongWith(await callsAdmitted(bench, small.ready, account));
  if (wrong !== undefined) throw new Error(`The limiter decides wrongly: ${wrong}.`);
  const [asking, all, large, peer] = [
    await startContender(bench, { ...contender, id: DECIDES_ALL }, USED_UP),
    await startContender(bench, { ...flexible, id: "refusing" }, USED_UP),
    await startContender(bench, contender, NO_LIMIT),
    await startContender(bench, flexible, NO_LIMIT),
  ];
  const requests = [nothingOf(account, 0)];
  const target = (id: string, { pid, ready }: typeof small, status: number): Target => ({
    id,
    pids: [pid],
    port: ready.port,
    requests,
    status,
  });
  return {
    ours: target("ours", large, 200),
    consumes: target("two consumes", peer, 200),
    repeated: target("repeated", small, 429),
    decided: target("decided", asking, 429),
    refusing: target("refusing", all, 429),
    stop: () => Promise.all([small, asking, all, large, peer].map((server) => server.stop())),
  };
}

function contenderOf(id: string) {
  const found = CONTENDERS.find((contender) => contender.id === id);
  if (found === undefined) throw new Error(`There is no contender ${id}.`);
  return found;
}

function costTable(decisions: Rounds<Slice>, flooded: Rounds<Slice>): Table {
  const row = (title: string, slices: readonly Slice[] = []) => {
    const of = (what: "server" | "redis") => spreadOf(slices.map((slice) => slice[what])).median;
    const rate = spreadOf(slices.map(({ count, seconds }) => count / seconds)).median;
    return [title, of("redis").toFixed(1), of("server").toFixed(0), rate.toFixed(0), (1e6 / of("redis")).toFixed(0)];
  };
  return {
    title: `What a decision costs, ${CONNECTIONS} connections`,
    head: ["what", "Redis CPU µs", "server CPU µs", "requests/s", "decisions/s of one core of Redis"],
    rows: [
      row("ours", decisions.get("ours")),
      row("two consumes of rate-limiter-flexible", decisions.get("two consumes")),
      row("ours, refused in a flood", flooded.get("repeated")),
      row("ours, refused by Redis each time", flooded.get("decided")),
      row("Koa that refuses everything, without Redis", flooded.get("refusing")),
    ],
    caption: "CPU for each request, medians over the rounds. The last column is a second divided by Redis's CPU.",
  };
}
