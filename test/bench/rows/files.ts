import type { Bench } from "../bench.ts";
import { compare, inTurns } from "../in-turns.ts";
import { createCandidates } from "../pipeline.ts";
import { type Row, type Section, showRatio } from "../report.ts";
import { startService } from "../service.ts";
import { type Ratio, spreadOf } from "../stats.ts";

const MIB = 1024 * 1024;
const SIZE = 25 * MIB;
/** Each of them moves 25 MiB, so a few are enough. */
const ROUNDS = { rounds: 5, maxRounds: 12 };
const BOUND = 0.7;

/** Measures 25 MiB up and down, through the service and by the driver alone. */
export async function fileRows(bench: Bench): Promise<Section> {
  const service = await startService(bench);
  const bare = await bench.children.start("test/bench/programs/gridfs", { args: [bench.mongodbUrl, `${SIZE}`] });
  const [id = ""] = await createCandidates(service, 1);
  const { body } = await service.send("GET", `/candidates/${id}`, { status: 200 });
  const { documents } = JSON.parse(body.toString()) as { documents: { id: string }[] };
  const path = `/candidates/${id}/documents/${documents[0]?.id ?? ""}/content`;
  const file = Buffer.alloc(SIZE, "bench");
  const headers = { "Content-Type": "application/pdf" };
  const measures = {
    "ours up": () => seconds(() => service.send("PUT", path, { status: 200, headers, body: file })),
    "bare up": () => bare.ask({ do: "up" }) as Promise<number>,
    "ours down": () => seconds(() => service.send("GET", path, { status: 200 })),
    "bare down": () => bare.ask({ do: "down" }) as Promise<number>,
  };
  for (const measure of Object.values(measures)) await measure(); // warm-up; what goes down must first be up
  // Of two times the faster one's is divided: 0.7 means 0.7 of the throughput of the bare driver.
  const pairs = [
    ["bare up", "ours up"],
    ["bare down", "ours down"],
  ] as const;
  const identity = (time: number) => time;
  const rounds = await inTurns(ROUNDS, measures, { compared: pairs, cost: identity });
  return {
    title: `25 MiB up and down (MongoDB: ${bench.engine})`,
    tables: [
      {
        title: "Throughput",
        head: ["what", "MiB/s"],
        rows: Object.keys(measures).map((name) => [name, (25 / spreadOf(rounds.get(name) ?? []).median).toFixed(0)]),
        caption: "One file at a time. Ours comes over HTTP, is hashed, and replaces the document's file before.",
      },
    ],
    rows: [
      throughputRow("25 MiB up", compare(rounds, pairs[0], identity)),
      throughputRow("25 MiB down", compare(rounds, pairs[1], identity)),
    ],
    charts: [],
  };
}

function throughputRow(what: string, ratio: Ratio): Row {
  const verdict = ratio.noisy ? "too noisy" : ratio.median >= BOUND ? "met" : "not met";
  return { what, bound: `>= ${BOUND} x GridFS by the driver`, measured: showRatio(ratio), verdict };
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1000;
}
