import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { measure, type Target } from "../alternate.ts";
import type { Bench } from "../bench.ts";
import { compare, inTurns } from "../in-turns.ts";
import { createCandidates } from "../pipeline.ts";
import { withRepeatedAnswers } from "../repeated-answers.ts";
import { ratioRow, type Section, valueRow } from "../report.ts";
import { type Service, startService } from "../service.ts";
import { spreadOf } from "../stats.ts";

const ROWS = 200;
const PATH = `/candidates?limit=${ROWS}`;
/** A few: a page holds the event loop, so more at once only wait. */
const CONNECTIONS = 4;
const SETTLE_MS = 500;

type Cost = { readonly server: number };
const cost = ({ server }: Cost): number => server;

/** Measures a full page of the feed: 200 candidates with 5 documents and 3 references each. */
export function listRows(bench: Bench): Promise<Section> {
  return withRepeatedAnswers(bench, sectionOf);
}

async function sectionOf(bench: Bench): Promise<Section> {
  const service = await startService(bench);
  await createCandidates(service, ROWS);
  const { page, etag } = await steadyPage(service);
  const file = join(bench.folder, "page.json");
  writeFileSync(file, page);
  const json = await bench.children.start("test/bench/programs/json", { args: [file] });

  const target = (id: string, status: number, headers: Record<string, string>): Target => ({
    id,
    pids: [service.child.pid],
    port: service.port,
    requests: [service.text("GET", PATH, headers)],
    status,
  });
  const { slice, warmUp } = bench.options;
  const whole = target("page", 200, {});
  const unchanged = target("unchanged", 304, { "If-None-Match": etag });
  const gzipped = target("gzip", 200, { "Accept-Encoding": "gzip" });
  const brotli = target("br", 200, { "Accept-Encoding": "br" });
  const load = (asked: Target, seconds: number): Promise<Cost> =>
    measure(bench, asked, { connections: CONNECTIONS, seconds });
  const parse = (seconds: number) => json.ask({ seconds }) as Promise<Cost>;
  for (const asked of [whole, unchanged, gzipped, brotli]) await load(asked, warmUp);
  await parse(warmUp);
  const pairs = [
    ["page", "json"],
    ["unchanged", "json"],
  ] as const;
  const rounds = await inTurns(
    bench.options,
    {
      page: () => load(whole, slice),
      unchanged: () => load(unchanged, slice),
      json: () => parse(slice),
      gzip: () => load(gzipped, slice),
      br: () => load(brotli, slice),
    },
    { compared: pairs, cost },
  );
  const [gzip, br] = [await travels(service, "gzip"), await travels(service, "br")];
  const ms = (name: string) => (spreadOf((rounds.get(name) ?? []).map(cost)).median / 1000).toFixed(1);
  return {
    title: `A page of the feed: ${ROWS} candidates with 5 documents and 3 references each, ${page.length} bytes`,
    tables: [
      {
        title: "CPU and bytes of a page",
        head: ["what", "CPU ms", "bytes as it travels"],
        rows: [
          ["the page", ms("page"), `${page.length}`],
          ["the unchanged page (304)", ms("unchanged"), "0"],
          ["JSON.parse and JSON.stringify of it", ms("json"), "-"],
          ["the page, Accept-Encoding: gzip", ms("gzip"), `${gzip}`],
          ["the page, Accept-Encoding: br", ms("br"), `${br}`],
        ],
        caption: `CPU of the server process, of all its threads, for each page, at ${CONNECTIONS} connections. The bench repeats MongoDB's answers, so that MongoDB's pace does not matter.`,
      },
    ],
    rows: [
      ratioRow("list page, server CPU", compare(rounds, pairs[0], cost), 1, "one JSON.parse + JSON.stringify"),
      ratioRow(
        "unchanged list page (304), server CPU",
        compare(rounds, pairs[1], cost),
        0.3,
        "one JSON.parse + JSON.stringify",
      ),
      valueRow("list page as it travels, gzip", gzip, 50_000, (bytes) => `${(bytes / 1000).toFixed(0)} kB`),
      valueRow("list page as it travels, br", br, 50_000, (bytes) => `${(bytes / 1000).toFixed(0)} kB`),
    ],
    charts: [],
  };
}

/** Waits until two pages in a row are equal: the cursor of a page moves as long as writes are recent. */
async function steadyPage(service: Service): Promise<{ page: string; etag: string }> {
  for (let before = ""; ; await wait(SETTLE_MS)) {
    const { body, headers } = await service.send("GET", PATH, { status: 200 });
    const page = body.toString();
    const { data } = JSON.parse(page) as { data: unknown[] };
    if (data.length === ROWS && page === before) return { page, etag: String(headers["etag"]) };
    before = page;
  }
}

async function travels(service: Service, coding: string): Promise<number> {
  const { body } = await service.send("GET", PATH, { status: 200, headers: { "Accept-Encoding": coding } });
  return body.length;
}
