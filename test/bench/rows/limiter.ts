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
import { type Contender, CONTENDERS } from "../contenders.ts";
import { compare, type Rounds } from "../in-turns.ts";
import { cpuChart, edgeChart, latencyChart, type Under } from "./limiter-charts.ts";
import { notMeasured, ratioBound, ratioRow, type Row, type Section, showRatio, type Table } from "../report.ts";
import { startContender } from "../start-contender.ts";
import { type Ratio, spreadOf } from "../stats.ts";

const CONNECTIONS = 32;
/** Long enough that no window ends in the middle, but for midnight UTC. */
const DAY = 86_400;
/** More than any run sends. */
const NO_LIMIT = { accountLimit: 600_000_000, keyLimit: 300_000_000, windowSeconds: DAY };
const CHECKED = { accountLimit: ACCOUNT_LIMIT, keyLimit: KEY_LIMIT, windowSeconds: DAY };

type Phase = "admitted" | "refused";

interface Measured {
  readonly contender: Contender;
  readonly admitted: Admitted;
  /** Why it loses. */
  readonly wrong: string | undefined;
}

/** Measures one request of each contender, admitted and refused, after a check that it decides rightly. */
export async function limiterRows(bench: Bench, contenders = CONTENDERS): Promise<Section> {
  const checked: Measured[] = [];
  const targets: Target[] = [];
  const admitting: Under[] = [];
  for (const contender of contenders) {
    const account = await bench.account(2);
    // A fresh server each, so that the counters of the check are its own. It then stands for "all limits used up".
    const small = await startContender(bench, contender, CHECKED);
    const admitted = await callsAdmitted(bench, small.ready, account);
    const wrong = wrongWith(admitted);
    checked.push({ contender, admitted, wrong });
    if (wrong !== undefined) {
      await small.stop();
      continue;
    }
    const large = await startContender(bench, contender, NO_LIMIT);
    const requests = [nothingOf(account, 0)];
    const target = (phase: Phase, { pid, ready }: typeof small, status: number) =>
      ({ id: idOf(contender.id, phase), pids: [pid], port: ready.port, requests, status }) satisfies Target;
    const under = target("admitted", large, 200);
    admitting.push({ contender, target: under });
    targets.push(under, target("refused", small, 429));
  }
  const rowsOfOurs = comparisons();
  const compared = rowsOfOurs
    .map(({ measured, reference }) => [measured, reference] as const)
    .filter((pair) => pair.every((id) => targets.some((target) => target.id === id)));
  const slices = await alternate(bench, targets, { connections: CONNECTIONS, compared });
  const plots = bench.options.plots ? [await latencyChart(bench, admitting)] : [];
  await bench.children.stopServers();
  const withoutLog = admitting.map(({ contender }) => contender).filter(({ id }) => id !== "ours-logged");
  if (bench.options.plots) plots.unshift(await edgeChart(bench, withoutLog));
  const ratio = (measured: string, reference: string) => compare(slices, [measured, reference], serverCpu);
  const ourWrong = checked.some(({ contender, wrong }) => contender.ours === true && wrong !== undefined);
  return {
    title: `The limiter: one endpoint without work, ${CONNECTIONS} connections`,
    tables: [
      costTable("admitted", checked, slices, ratio),
      costTable("refused", checked, slices, ratio),
      promiseTable(checked),
    ],
    rows: rowsOfOurs.flatMap(({ what, measured, reference, bound, name }): Row[] => {
      if (slices.has(measured) && slices.has(reference))
        return [ratioRow(what, ratio(measured, reference), bound, name)];
      const loser = [measured, reference].map((id) => loserOf(id, checked)).find((title) => title !== undefined);
      return loser === undefined ? [] : [notMeasured(what, ratioBound(bound, name), `${loser} decided wrongly`)];
    }),
    charts: [...plots, cpuChart(slices, new Map(targets.map(({ id }) => [id, titleOf(id, contenders)])))],
    ...(ourWrong && { failed: true }),
  };
}

/** What the table of targets asks of the limiter. */
function comparisons() {
  const admitted = (id: string) => idOf(id, "admitted");
  const refused = (id: string) => idOf(id, "refused");
  return [
    {
      what: "server CPU, admitted, log off",
      measured: admitted("ours"),
      reference: admitted("flexible"),
      bound: 1,
      name: "Koa + two consumes",
    },
    {
      what: "server CPU, admitted, log on",
      measured: admitted("ours-logged"),
      reference: admitted("bare"),
      bound: 1.6,
      name: "Koa + the cheapest script",
    },
    {
      what: "server CPU, refused, log off",
      measured: refused("ours"),
      reference: admitted("ours"),
      bound: 1,
      name: "admitted",
    },
    {
      what: "server CPU, refused, log on",
      measured: refused("ours-logged"),
      reference: admitted("ours-logged"),
      bound: 1,
      name: "admitted",
    },
  ];
}

function idOf(id: string, phase: Phase): string {
  return `${id}, ${phase}`;
}

function titleOf(target: string, contenders: readonly Contender[]): string {
  const found = contenders.find(({ id }) => target.startsWith(`${id}, `));
  return target.replace(found?.id ?? "", found?.title ?? "");
}

/** Returns the title of a target's contender, if it lost. */
function loserOf(target: string, checked: readonly Measured[]): string | undefined {
  return checked.find(({ contender, wrong }) => wrong !== undefined && target.startsWith(`${contender.id}, `))
    ?.contender.title;
}

function costTable(
  phase: Phase,
  checked: readonly Measured[],
  slices: Rounds<Slice>,
  ratio: (measured: string, reference: string) => Ratio,
): Table {
  const against = (contender: string, reference: string) => {
    const [measured, to] = [idOf(contender, phase), idOf(reference, phase)];
    return slices.has(measured) && slices.has(to) ? showRatio(ratio(measured, to)) : "-";
  };
  const rowOf = ({ contender: { id, title }, wrong }: Measured) => {
    if (wrong !== undefined) return [title, "loses", "-", "-", "-", "-", "-", "-", "-"];
    const of = (what: "server" | "redis" | "p50" | "p99" | "count" | "scripts" | "waited") =>
      spreadOf((slices.get(idOf(id, phase)) ?? []).map((slice) => slice[what]));
    const server = of("server");
    const seconds = spreadOf((slices.get(idOf(id, phase)) ?? []).map((slice) => slice.seconds)).median;
    return [
      title,
      `${server.median.toFixed(0)} (${server.q1.toFixed(0)}-${server.q3.toFixed(0)})`,
      of("redis").median.toFixed(0),
      of("scripts").median.toFixed(2),
      `${of("p50").median.toFixed(1)}, ${of("p99").median.toFixed(1)}`,
      (of("count").median / seconds).toFixed(0),
      `${(100 * of("waited").median).toFixed(0)} %`,
      against(id, "bare"),
      against(id, "flexible"),
    ];
  };
  return {
    title: `Requests that are ${phase}`,
    head: [
      "contender",
      "server CPU µs",
      "Redis CPU µs",
      "scripts",
      "p50, p99 ms",
      "requests/s",
      "waits",
      "x cheapest script",
      "x two consumes",
    ],
    rows: checked.map(rowOf),
    caption:
      "CPU for each request, median and quartiles over the rounds. scripts: Redis scripts run for each request. waits: how long the server waited for a core, for each of its own microseconds; it shows in latency and requests/s, not in CPU.",
  };
}

function promiseTable(checked: readonly Measured[]): Table {
  return {
    title: `What they admit: account limit ${ACCOUNT_LIMIT}, key limit ${KEY_LIMIT}, 20 calls at once with one key, then 20 with another`,
    head: ["contender", "first key", "second key", "does not promise"],
    rows: checked.map(({ contender, admitted, wrong }) => [
      contender.title,
      `${admitted.first}`,
      `${admitted.second}`,
      [...(wrong === undefined ? [] : [`WRONG: ${wrong}`]), ...notPromised(admitted), contender.also]
        .filter((text) => text !== "")
        .join("; "),
    ]),
    caption: `Right is ${KEY_LIMIT} and ${ACCOUNT_LIMIT - KEY_LIMIT}. A limiter that admits more loses: it is not measured.`,
  };
}
