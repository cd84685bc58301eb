import { alternate, serverCpu, type Target } from "../alternate.ts";
import type { Bench } from "../bench.ts";
import { compare } from "../in-turns.ts";
import { createCandidates } from "../pipeline.ts";
import { withRepeatedAnswers } from "../repeated-answers.ts";
import { ratioRow, type Section } from "../report.ts";
import { startService } from "../service.ts";
import { startContender } from "../start-contender.ts";
import { spreadOf } from "../stats.ts";

const CONNECTIONS = 32;
const NO_LIMIT = { accountLimit: 600_000_000, keyLimit: 300_000_000, windowSeconds: 86_400 };

/** Measures GET of one candidate beside what a bare limiter and the driver need for it. */
export function readRows(bench: Bench): Promise<Section> {
  return withRepeatedAnswers(bench, sectionOf);
}

async function sectionOf(bench: Bench): Promise<Section> {
  const service = await startService(bench);
  const ids = await createCandidates(service, CONNECTIONS);
  const bare = await startContender(bench, { id: "find-one", program: "find-one", env: {} }, NO_LIMIT);
  const headers = { "X-Account": service.account.id };
  const requests = ids.map((id) => service.text("GET", `/candidates/${id}`, headers));
  const target = (id: string, pid: number, port: number): Target => ({ id, pids: [pid], port, requests, status: 200 });
  const pair = ["ours", "bare"] as const;
  const rounds = await alternate(
    bench,
    [target("ours", service.child.pid, service.port), target("bare", bare.pid, bare.ready.port)],
    { connections: CONNECTIONS, compared: [pair] },
  );
  const row = (title: string, id: string) => {
    const slices = rounds.get(id) ?? [];
    const of = (what: "server" | "p50" | "p99") => spreadOf(slices.map((slice) => slice[what])).median;
    const rate = spreadOf(slices.map(({ count, seconds }) => count / seconds)).median;
    return [title, of("server").toFixed(0), `${of("p50").toFixed(1)}, ${of("p99").toFixed(1)}`, rate.toFixed(0)];
  };
  return {
    title: `GET of one candidate, ${CONNECTIONS} connections (MongoDB: ${bench.engine})`,
    tables: [
      {
        title: "CPU of a read",
        head: ["what", "server CPU µs", "p50, p99 ms", "requests/s"],
        rows: [row("ours", "ours"), row("Koa + the cheapest script + findOne", "bare")],
        caption:
          "CPU is the server's own. The bench repeats MongoDB's answers to both, so that MongoDB's pace does not matter.",
      },
    ],
    rows: [
      ratioRow("GET of one candidate, server CPU", compare(rounds, pair, serverCpu), 1.5, "Koa + script + findOne"),
    ],
    charts: [],
  };
}
