import { setTimeout as wait } from "node:timers/promises";
import type { Bench } from "../bench.ts";
import type { RunResult } from "../load.ts";
import { compare, inTurns } from "../in-turns.ts";
import { createCandidates, fill, storedCandidate } from "../pipeline.ts";
import { ratioRow, type Section } from "../report.ts";
import { type Service, startService } from "../service.ts";

const SMALLEST = 1000;
const LIMIT = 200;
/** How long one measurement takes. It gives the median latency: of about ten pages, or of more than a hundred polls. */
const SLICE_SECONDS = 0.25;
const SETTLE_MS = 1000;

/** Measures the feed and look-ups of an account of `largest` candidates, beside those of a small one. */
export async function sizeRows(bench: Bench, largest: number): Promise<Section> {
  const sizes = [SMALLEST, largest];
  const [id = ""] = await createCandidates(await startService(bench), 1);
  const template = await storedCandidate(bench, id);
  const measures: Record<string, () => Promise<RunResult>> = {};
  let names: string[] = [];
  for (const size of sizes) {
    // Each has a database of its own: what scans a collection takes as long for each account in it.
    const own = await bench.withDatabase();
    const service = await startService(own);
    await fill(own, service.account.id, template, size);
    const asked = await requestsOf(service, size);
    names = Object.keys(asked);
    for (const [name, request] of Object.entries(asked)) {
      const run = { requests: [request], seconds: SLICE_SECONDS };
      measures[`${name} ${size}`] = () => bench.generator.connected(service.port, 1, (load) => load(run));
    }
  }
  const compared = names.map((name) => ({
    measured: `${name} ${largest}`,
    reference: `${name} ${SMALLEST}`,
    cost: ({ p50 }: RunResult) => p50,
  }));
  const rounds = await inTurns(bench.options, measures, compared);
  return {
    title: `Latency of one request at a time, of accounts with ${sizes.join(" and ")} candidates (${bench.engine})`,
    tables: [],
    rows: compared.map((comparison, n) =>
      ratioRow(`${names[n] ?? ""}, ${largest} candidates`, compare(rounds, comparison), 1.2, `${SMALLEST} candidates`),
    ),
  };
}

/** Walks the feed once, as a mirror does. @returns whole requests of a client, by name. */
async function requestsOf(service: Service, size: number): Promise<Record<string, string>> {
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

async function pageOf(service: Service, path: string) {
  const { body } = await service.send("GET", path, { status: 200 });
  return JSON.parse(body.toString()) as { data: unknown[]; cursor: string; has_more: boolean };
}
