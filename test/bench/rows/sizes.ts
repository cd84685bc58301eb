import { setTimeout as wait } from "node:timers/promises";
import type { Document } from "mongodb";
import type { Bench } from "../bench.ts";
import { lineChart } from "../charts.ts";
import { compare, inTurns, type Rounds } from "../in-turns.ts";
import { createCandidates, fill, storedCandidate } from "../pipeline.ts";
import { type Chart, ratioRow, type Section } from "../report.ts";
import { type Service, startService } from "../service.ts";
import { spreadOf } from "../stats.ts";

const LIMIT = 200;
/** How long one measurement takes. It gives the median latency: of about ten pages, or of more than a hundred polls. */
const SLICE_SECONDS = 0.25;
const SETTLE_MS = 1000;

/** What a client asks of an account, by name: a whole request. */
type Asked = Readonly<Record<string, string>>;

/** Measures the feed and look-ups in databases of several sizes. */
export async function sizeRows(bench: Bench): Promise<Section> {
  const sizes = bench.options.sizes;
  const [smallest = 0, largest = 0] = [sizes[0], sizes.at(-1)];
  const template = await newTemplate(bench);
  const asked = new Map<string, { port: number; request: string }>();
  let names: string[] = [];
  for (const size of sizes) {
    // Each has a database of its own: what scans a collection takes as long for each account in it.
    const own = await bench.withDatabase();
    const service = await startService(own);
    await fill(own, service.account.id, template, size);
    const requests = await requestsOf(service, size);
    names = Object.keys(requests);
    for (const [name, request] of Object.entries(requests))
      asked.set(`${name} ${size}`, { port: service.port, request });
  }
  const pairs = names.map((name) => [`${name} ${largest}`, `${name} ${smallest}`] as const);
  const latency = ({ p50 }: { p50: number }) => p50;
  const measures = [...asked].map(([name, { port, request }]) => {
    const run = { requests: [request], seconds: SLICE_SECONDS };
    return [name, () => bench.generator.connected(port, 1, (load) => load(run))] as const;
  });
  const rounds = await inTurns(bench.options, Object.fromEntries(measures), { compared: pairs, cost: latency });
  return {
    title: `Feed and look-ups by size (MongoDB: ${bench.engine})`,
    tables: [
      {
        title: "Latency of one request at a time, in ms",
        head: ["request", ...sizes.map((size) => `${size} candidates`)],
        rows: names.map((name) => [name, ...sizes.map((size) => msOf(rounds, `${name} ${size}`).toFixed(1))]),
        caption: `Databases of one account with ${sizes.join(" and ")} candidates; pages have ${LIMIT} rows. The time is the MongoDB server's for the most part, and says nothing of another engine.`,
      },
    ],
    rows: pairs.map((pair, place) =>
      ratioRow(
        `${names[place] ?? ""}, ${largest} candidates`,
        compare(rounds, pair, latency),
        1.2,
        `${smallest} candidates`,
      ),
    ),
    charts: [sizeChart(bench, names, rounds)],
  };
}

/** Returns a candidate in the form in which the service stores it. */
async function newTemplate(bench: Bench): Promise<Document> {
  const [id = ""] = await createCandidates(await startService(bench), 1);
  return storedCandidate(bench, id);
}

function sizeChart(
  { options: { sizes }, engine }: Bench,
  names: readonly string[],
  rounds: Rounds<{ p50: number }>,
): Chart {
  const points = names.flatMap((series) => sizes.map((x) => ({ series, x, y: msOf(rounds, `${series} ${x}`) })));
  const growth = names.map((name) => msOf(rounds, `${name} ${sizes.at(-1)}`) / msOf(rounds, `${name} ${sizes[0]}`));
  const [largest, smallest] = [sizes.at(-1) ?? 0, sizes[0] ?? 0];
  return lineChart({
    title: `${largest / smallest} times the candidates cost up to ${Math.max(...growth).toFixed(1)} times the latency`,
    caption: `One request at a time. Flat lines are right. MongoDB: ${engine}.`,
    xTitle: "candidates of the account (logarithmic)",
    yTitle: "latency, ms (logarithmic)",
    points,
    log: true,
  });
}

function msOf(rounds: Rounds<{ p50: number }>, name: string): number {
  return spreadOf((rounds.get(name) ?? []).map(({ p50 }) => p50)).median;
}

/** Walks the feed once, as a mirror does, and keeps the cursors of a page in the middle, of the last one, and of the end. */
async function requestsOf(service: Service, size: number): Promise<Asked> {
  const path = (cursor?: string) => `/candidates?limit=${LIMIT}${cursor === undefined ? "" : `&cursor=${cursor}`}`;
  const cursors: string[] = [];
  let page = await pageOf(service, path());
  for (; page.has_more; page = await pageOf(service, path(page.cursor))) cursors.push(page.cursor);
  let end = page.cursor;
  // Rows that were just written are repeated until the feed is known to be complete after them.
  for (let rest = await pageOf(service, path(end)); rest.data.length > 0; rest = await pageOf(service, path(end))) {
    await wait(SETTLE_MS);
    end = rest.cursor;
  }
  const get = (asked: string) => service.text("GET", asked);
  return {
    "first page": get(path()),
    "middle page": get(path(cursors[Math.floor(cursors.length / 2) - 1])),
    "last page": get(path(cursors.at(-1))),
    "poll with nothing new": get(path(end)),
    "look-up by external_id": get(`/candidates?external_id=ats-${Math.floor(size / 2)}`),
  };
}

interface Page {
  readonly data: unknown[];
  readonly cursor: string;
  readonly has_more: boolean;
}

async function pageOf(service: Service, path: string): Promise<Page> {
  const { body } = await service.send("GET", path, { status: 200 });
  return JSON.parse(body.toString()) as Page;
}
