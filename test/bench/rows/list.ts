import { cpuUsage } from "node:process";
import { setTimeout as wait } from "node:timers/promises";
import { measure, serverCpu, type Target } from "../alternate.ts";
import type { Bench } from "../bench.ts";
import { compare, inTurns } from "../in-turns.ts";
import { createCandidates } from "../pipeline.ts";
import { withRepeatedReplies } from "../repeated-replies.ts";
import { ratioRow, type Section, valueRow } from "../report.ts";
import { type Service, startService } from "../service.ts";

/** The largest page of the feed. */
export const ROWS = 200;
export const PATH = `/candidates?limit=${ROWS}`;
/** A few: a page holds the event loop, so more at once only wait. */
const CONNECTIONS = 4;
const SETTLE_MS = 500;
export const JSON_ONLY = "one JSON.parse + JSON.stringify";

/** Measures a full page of the feed: 200 candidates with 5 documents and 3 references each. */
export function listRows(bench: Bench): Promise<Section> {
  return withRepeatedReplies(bench, sectionOf);
}

async function sectionOf(bench: Bench): Promise<Section> {
  const service = await startService(bench);
  await createCandidates(service, ROWS);
  const { page, etag } = await steadyPage(service);

  const { child, port } = service;
  const target = (id: string, status: number, headers: Record<string, string>): Target => {
    return { id, pid: child.pid, port, requests: [service.text("GET", PATH, headers)], status };
  };
  const { slice, warmUp } = bench.options;
  const whole = target("page", 200, {});
  const unchanged = target("unchanged", 304, { "If-None-Match": etag });
  const load = (asked: Target, seconds: number) => measure(bench, asked, { connections: CONNECTIONS, seconds });
  const parse = async (seconds: number) => cpuOfJson(page, seconds);
  for (const asked of [whole, unchanged]) await load(asked, warmUp);
  await parse(warmUp);
  const ofPage = { measured: "page", reference: "json", cost: serverCpu };
  const ofUnchanged = { measured: "unchanged", reference: "json", cost: serverCpu };
  const rounds = await inTurns<{ server: number }>(
    bench.options,
    { page: () => load(whole, slice), unchanged: () => load(unchanged, slice), json: () => parse(slice) },
    [ofPage, ofUnchanged],
  );
  const kilobytes = (bytes: number) => `${(bytes / 1000).toFixed(0)} kB`;
  return {
    title: `A page of the feed: ${ROWS} candidates with 5 documents and 3 references each, ${page.length} bytes`,
    tables: [],
    rows: [
      ratioRow("list page, server CPU", compare(rounds, ofPage), 1, JSON_ONLY),
      ratioRow("unchanged list page (304), server CPU", compare(rounds, ofUnchanged), 0.3, JSON_ONLY),
      valueRow("list page as it travels, gzip", await sizeOf(service, "gzip"), 50_000, kilobytes),
      valueRow("list page as it travels, br", await sizeOf(service, "br"), 50_000, kilobytes),
    ],
  };
}

/** Waits until two pages in a row are equal: the cursor of a page moves as long as writes are recent. */
export async function steadyPage(service: Service): Promise<{ page: string; etag: string }> {
  for (let before = ""; ; await wait(SETTLE_MS)) {
    const { body, headers } = await service.send("GET", PATH, { status: 200 });
    const page = body.toString();
    const { data } = JSON.parse(page) as { data: unknown[] };
    if (data.length === ROWS && page === before) return { page, etag: String(headers["etag"]) };
    before = page;
  }
}

/** Parses and writes a page again and again, and does nothing else. */
export function cpuOfJson(page: string, seconds: number): { server: number } {
  const before = cpuUsage();
  const end = performance.now() + seconds * 1000;
  let [count, length] = [0, 0];
  for (; performance.now() < end; count++) length += JSON.stringify(JSON.parse(page)).length;
  const { user, system } = cpuUsage(before);
  if (length === 0) throw new Error("The page is empty.");
  return { server: (user + system) / count };
}

async function sizeOf(service: Service, coding: string): Promise<number> {
  const { body } = await service.send("GET", PATH, { status: 200, headers: { "Accept-Encoding": coding } });
  return body.length;
}
