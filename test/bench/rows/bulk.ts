import { measure, serverCpu, type Target } from "../alternate.ts";
import type { Bench } from "../bench.ts";
import { compare, inTurns } from "../in-turns.ts";
import { candidateInput } from "../pipeline.ts";
import { ratioRow, type Section } from "../report.ts";
import { startService } from "../service.ts";

const TOGETHER = 100;
const CONNECTIONS = 2;
/** A request of 100 takes a tenth of a second and more. */
const LONGER = 10;

/** Measures what a candidate costs the server in a request of 100, against a request of its own. */
export async function bulkRows(bench: Bench): Promise<Section> {
  const service = await startService(bench);
  const { child, port } = service;
  const { external_id: _, ...candidate } = JSON.parse(candidateInput(1)) as Record<string, unknown>;
  const bodies = {
    one: JSON.stringify(candidate),
    hundred: JSON.stringify({ candidates: Array(TOGETHER).fill(candidate) }),
  };
  const target = (id: string, path: string, body: string, status: number): Target => {
    const headers = { "Content-Type": "application/json" };
    return { id, pid: child.pid, port, requests: [service.text("POST", path, headers, body)], status };
  };
  const one = target("one", "/candidates", bodies.one, 201);
  const hundred = target("hundred", `/candidates/bulk?count=${TOGETHER}`, bodies.hundred, 200);
  const { slice, warmUp } = bench.options;
  const load = (asked: Target, seconds: number) => measure(bench, asked, { connections: CONNECTIONS, seconds });
  for (const asked of [one, hundred]) await load(asked, warmUp);
  const compared = { measured: "hundred", reference: "one", cost: ({ server }: { server: number }) => server };
  const rounds = await inTurns<{ server: number }>(
    bench.options,
    {
      one: async () => ({ server: serverCpu(await load(one, slice * LONGER)) }),
      hundred: async () => ({ server: serverCpu(await load(hundred, slice * LONGER)) / TOGETHER }),
    },
    [compared],
  );
  await child.stop();
  return {
    title: `${TOGETHER} candidates in one request, with 5 documents and 3 references each`,
    tables: [],
    rows: [ratioRow("a candidate of a bulk of 100, server CPU", compare(rounds, compared), 0.35, "POST /candidates")],
  };
}
