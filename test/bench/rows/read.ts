import { alternate, serverCpu, type Target } from "../alternate.ts";
import type { Bench } from "../bench.ts";
import { NO_LIMIT, startContender } from "../contenders.ts";
import { compare } from "../in-turns.ts";
import { createCandidates } from "../pipeline.ts";
import { commandsRow } from "../redis-commands.ts";
import { withRepeatedReplies } from "../repeated-replies.ts";
import { ratioRow, type Section } from "../report.ts";
import { startService } from "../service.ts";

const CONNECTIONS = 32;

/** Measures GET of one candidate beside what a bare limiter and the driver need for it. */
export function readRows(bench: Bench): Promise<Section> {
  return withRepeatedReplies(bench, sectionOf);
}

async function sectionOf(bench: Bench): Promise<Section> {
  const service = await startService(bench);
  const { child, port, account } = service;
  const ids = await createCandidates(service, CONNECTIONS);
  const bare = await startContender(bench, { id: "find-one", program: "find-one", env: {} }, NO_LIMIT);
  const requests = ids.map((id) => service.text("GET", `/candidates/${id}`, { "X-Account": account.id }));
  const target = (id: string, pid: number, of: number): Target => ({ id, pid, port: of, requests, status: 200 });
  const pair = { measured: "ours", reference: "bare", cost: serverCpu };
  const targets = [target("ours", child.pid, port), target("bare", bare.pid, bare.ready.port)];
  const rounds = await alternate(bench, targets, { connections: CONNECTIONS, compared: [pair] });
  return {
    title: `GET of one candidate, ${CONNECTIONS} connections`,
    tables: [],
    rows: [
      ratioRow("GET of one candidate, server CPU", compare(rounds, pair), 1.5, "Koa + script + findOne"),
      await commandsRow(
        bench,
        "Redis commands a request",
        { port, requests },
        { connections: CONNECTIONS, exactly: 1 },
      ),
    ],
  };
}
