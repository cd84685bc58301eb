import { measure, serverCpu, type Target } from "../alternate.ts";
import type { Bench } from "../bench.ts";
import { compare, inTurns } from "../in-turns.ts";
import { createCandidates } from "../pipeline.ts";
import { ratioRow, type Section } from "../report.ts";
import { startMain, startService } from "../service.ts";
import { cpuOfJson, JSON_ONLY, PATH, ROWS, steadyPage } from "./list.ts";
import { residentMb } from "./memory.ts";

/** A reader asks for the next page when it has this one. */
const CONNECTIONS = 1;
/** Slices are this many times as long as elsewhere: V8 collects all garbage once in several pages. */
const LONGER = 5;
/** Maximum time for the rounds, in milliseconds. It is longer than elsewhere because the slices are. */
const MAX_MS = 240_000;

/**
 * Measures a full page of the feed after many of them, with MongoDB answering at its own pace: what a user's process pays.
 * V8 then sets the limit of its heap by what lives in it, and counts the pages' Buffers towards the limit.
 */
export async function steadyRows(bench: Bench): Promise<Section> {
  const writer = await startService(bench);
  await createCandidates(writer, ROWS);
  const { page } = await steadyPage(writer);
  const { pid, ready } = await startMain(bench);
  await writer.child.stop();

  const target = (id: string, headers: Record<string, string>): Target => {
    return { id, pid, port: ready.port, requests: [writer.text("GET", PATH, headers)], status: 200 };
  };
  const [identity, gzip] = [target("identity", {}), target("gzip", { "Accept-Encoding": "gzip" })];
  const memory = [residentMb(pid)];
  for (const { requests } of [identity, gzip])
    await bench.generator.connected(ready.port, CONNECTIONS, (load) =>
      load({ requests, seconds: 3600, count: bench.options.steadyPages / 2 }),
    );
  const seconds = bench.options.slice * LONGER;
  const load = (asked: Target) => measure(bench, asked, { connections: CONNECTIONS, seconds });
  const compared = { reference: "json", cost: serverCpu };
  const [ofIdentity, ofGzip] = [
    { ...compared, measured: "identity" },
    { ...compared, measured: "gzip" },
  ];
  const json = async () => cpuOfJson(page, seconds);
  const measures = { identity: () => load(identity), gzip: () => load(gzip), json };
  const rounds = await inTurns<{ server: number }>({ ...bench.options, maxMs: MAX_MS }, measures, [ofIdentity, ofGzip]);
  memory.push(residentMb(pid));
  const [before, after] = memory.map((megabytes) => megabytes.toFixed(0));
  return {
    title: `A page of the feed after ${bench.options.steadyPages} pages. Memory: ${before} MB before them, ${after} MB after.`,
    tables: [],
    rows: [
      ratioRow("list page in steady use, server CPU", compare(rounds, ofIdentity), 1.5, JSON_ONLY),
      ratioRow("list page in steady use, gzip, server CPU", compare(rounds, ofGzip), 2.2, JSON_ONLY),
    ],
  };
}
