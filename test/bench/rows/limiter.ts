import {
  type Admitted,
  ACCOUNT_LIMIT,
  callsAdmitted,
  KEY_LIMIT,
  nothingOf,
  notPromised,
  wrongWith,
} from "../admits.ts";
import { alternate, serverCpu, type Slice, type Target } from "../alternate.ts";
import type { Bench } from "../bench.ts";
import { type Contender, CONTENDERS, NO_LIMIT, startContender } from "../contenders.ts";
import { compare, type Rounds } from "../in-turns.ts";
import { DECIDES_ALL } from "../programs/serve.ts";
import { commandsRow } from "../redis-commands.ts";
import { notMeasured, ratioBound, ratioRow, type Row, type Section, type Table } from "../report.ts";
import { spreadOf } from "../stats.ts";

const CONNECTIONS = 32;
const CHECKED = { ...NO_LIMIT, accountLimit: ACCOUNT_LIMIT, keyLimit: KEY_LIMIT };

type Phase = "admitted" | "refused";

/** A contender, and what the check of it found. */
interface Checked {
  readonly contender: Contender;
  readonly admitted: Admitted;
  /** Why it loses. */
  readonly wrong: string | undefined;
}

const redisCpu = ({ redis }: Slice): number => redis;

/** A bound of the ratio of two targets' CPU: the server's unless `cost` says otherwise. */
interface Bound {
  readonly what: string;
  readonly measured: string;
  readonly reference: string;
  readonly bound: number;
  readonly cost?: (slice: Slice) => number;
}

const BOUNDS: readonly Bound[] = [
  { what: "server CPU, admitted, log off", measured: "ours, admitted", reference: "flexible, admitted", bound: 1 },
  { what: "server CPU, admitted, log on", measured: "ours-logged, admitted", reference: "bare, admitted", bound: 1.6 },
  { what: "server CPU, refused, log off", measured: "ours, refused", reference: "ours, admitted", bound: 1 },
  {
    what: "server CPU, refused, log on",
    measured: "ours-logged, refused",
    reference: "ours-logged, admitted",
    bound: 1,
  },
  {
    what: "server CPU, a flood of refusals",
    measured: "ours, refused",
    reference: `${DECIDES_ALL}, refused`,
    bound: 0.6,
  },
  {
    what: "Redis CPU of a decision",
    measured: "ours, admitted",
    reference: "flexible, admitted",
    bound: 0.75,
    cost: redisCpu,
  },
];

/** Measures one request of each contender, admitted and refused, after a check that it decides rightly. */
export async function limiterRows(bench: Bench, contenders = CONTENDERS): Promise<Section> {
  const checked: Checked[] = [];
  const targets = new Map<string, Target>();
  for (const contender of contenders) {
    // A fresh server each, so that the counters of the check are its own. It then stands for "all limits used up".
    const [account, small, large] = await Promise.all([
      bench.account(2),
      startContender(bench, contender, CHECKED),
      startContender(bench, contender, NO_LIMIT),
    ]);
    const admitted = await callsAdmitted(bench, small.ready, account);
    const wrong = wrongWith(admitted);
    checked.push({ contender, admitted, wrong });
    if (wrong !== undefined) {
      await Promise.all([small.stop(), large.stop()]);
      continue;
    }
    const requests = [nothingOf(account, 0)];
    for (const [phase, { pid, ready }, status] of [
      ["admitted", large, 200] as const,
      ["refused", small, 429] as const,
    ]) {
      const id = idOf(contender.id, phase);
      targets.set(id, { id, pid, port: ready.port, requests, status });
    }
  }
  const compared = BOUNDS.map((bound) => ({ cost: serverCpu, ...bound })).filter(
    ({ measured, reference }) => targets.has(measured) && targets.has(reference),
  );
  const slices = await alternate(bench, [...targets.values()], { connections: CONNECTIONS, compared });
  return {
    title: `The limiter: one endpoint without work, ${CONNECTIONS} connections`,
    tables: [costTable("admitted", checked, slices), costTable("refused", checked, slices), promiseTable(checked)],
    rows: [...BOUNDS.flatMap((bound) => ratioRows(bound, checked, slices)), ...(await commandRows(bench, targets))],
    ...(checked.some(({ contender, wrong }) => contender.ours && wrong !== undefined) && { failed: true }),
  };
}

function idOf(id: string, phase: Phase): string {
  return `${id}, ${phase}`;
}

/** Returns no row if one of the two is not among the contenders. */
function ratioRows(bound: Bound, checked: readonly Checked[], slices: Rounds<Slice>): Row[] {
  const { what, measured, reference } = bound;
  const ofTarget = (id: string) => checked.find(({ contender }) => id.startsWith(`${contender.id}, `));
  const [of, against] = [ofTarget(measured), ofTarget(reference)];
  if (of === undefined || against === undefined) return [];
  const name = reference.replace(against.contender.id, against.contender.title);
  const loser = [of, against].find(({ wrong }) => wrong !== undefined);
  if (loser !== undefined)
    return [notMeasured(what, ratioBound(bound.bound, name), `${loser.contender.title} decided wrongly`)];
  return [ratioRow(what, compare(slices, { cost: serverCpu, ...bound }), bound.bound, name)];
}

/** Counts what a decision of ours, and a refusal in a flood, ask of Redis. */
async function commandRows(bench: Bench, targets: ReadonlyMap<string, Target>): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [what, phase, exactly] of [
    ["Redis commands of a decision", "admitted", 1],
    ["Redis commands of a refusal", "refused", 0],
  ] as const) {
    const target = targets.get(idOf("ours", phase));
    if (target === undefined) continue;
    // Redis decides the first refusals of a flood, so these are not counted.
    const settle = bench.options.slice;
    rows.push(await commandsRow(bench, what, target, { connections: CONNECTIONS, exactly, settle }));
  }
  return rows;
}

function costTable(phase: Phase, checked: readonly Checked[], slices: Rounds<Slice>): Table {
  return {
    title: `Requests that are ${phase}`,
    head: ["contender", "server CPU µs", "Redis CPU µs", "p50, p99 ms", "requests/s"],
    rows: checked.map(({ contender: { id, title }, wrong }) => {
      if (wrong !== undefined) return [title, "loses", "-", "-", "-"];
      const of = (what: (slice: Slice) => number) => spreadOf((slices.get(idOf(id, phase)) ?? []).map(what));
      const server = of(serverCpu);
      return [
        title,
        `${server.median.toFixed(0)} (${server.q1.toFixed(0)}-${server.q3.toFixed(0)})`,
        of(redisCpu).median.toFixed(1),
        `${of(({ p50 }) => p50).median.toFixed(1)}, ${of(({ p99 }) => p99).median.toFixed(1)}`,
        of(({ count, seconds }) => count / seconds).median.toFixed(0),
      ];
    }),
    caption: "CPU for each request, median and quartiles over the rounds.",
  };
}

function promiseTable(checked: readonly Checked[]): Table {
  return {
    title: `What they admit: account limit ${ACCOUNT_LIMIT}, key limit ${KEY_LIMIT}, 20 calls at once with one key, then 20 with another`,
    head: ["contender", "decides", "first key", "second key", "does not promise"],
    rows: checked.map(({ contender, admitted, wrong }) => [
      contender.title,
      wrong === undefined ? "correctly" : "incorrectly",
      `${admitted.first}`,
      `${admitted.second}`,
      [wrong ?? "", ...notPromised(admitted), contender.also].filter((text) => text !== "").join("; "),
    ]),
    caption: `Right is ${KEY_LIMIT} and ${ACCOUNT_LIMIT - KEY_LIMIT}. A limiter that admits the wrong number is incorrect, and is not measured, however fast it is.`,
  };
}
