import { createHistogram, type RecordableHistogram } from "node:perf_hooks";
import Table from "cli-table3";
import type { Outcome } from "../lib/host.ts";

const COLUMNS = ["offered", "admitted", "by account", "by key", "failed", "p50 ms", "p99 ms"];
/** Histograms count microseconds, up to a minute. */
const MICROSECONDS = 1_000;
const LONGEST = 60_000_000;
/** Upper edges of the bars of the text histogram, in ms. */
const EDGES = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, Infinity];

interface Row {
  offered: number;
  admitted: number;
  account: number;
  key: number;
  failed: number;
  readonly latency: RecordableHistogram;
}

/** What was seen in one slice of the run, for the picture. */
export interface Slice {
  /** Seconds since the start. */
  readonly second: number;
  readonly admitted: number;
  readonly account: number;
  readonly key: number;
  readonly failed: number;
  readonly p50: number;
  readonly p99: number;
}

/** Sorts what a run sees by surface, by key and by time. */
export class Figures {
  readonly #surfaces = new Map<string, Row>();
  readonly #keys = new Map<string, Row>();
  readonly #slices = new Map<number, Row>();
  readonly #all = newRow();
  readonly #buckets = EDGES.map(() => 0);
  readonly #startedAt = performance.now();

  add(outcome: Outcome): void {
    const slice = Math.floor((performance.now() - this.#startedAt) / 1000);
    const rows = [rowOf(this.#surfaces, outcome.surface), rowOf(this.#keys, `key ${outcome.key + 1}`), this.#all];
    const bucket = EDGES.findIndex((edge) => outcome.answer.ms <= edge);
    this.#buckets[bucket] = (this.#buckets[bucket] ?? 0) + 1;
    for (const row of [...rows, rowOf(this.#slices, slice)]) count(row, outcome);
  }

  /** Offered, admitted, refused and failed by surface, with the latency of each. */
  bySurface(): string {
    const charged = [...this.#surfaces].filter(([name]) => name !== "free");
    return table([...charged, ["all", this.#all]], "surface");
  }

  byKey(): string {
    return table([...this.#keys, ["all keys", this.#all]], "key");
  }

  /** How many answers took how long, as text. */
  histogram(): string {
    const rows = EDGES.map((edge, index) => ({
      label: edge === Infinity ? "longer" : `≤ ${edge} ms`,
      count: this.#buckets[index] ?? 0,
    }));
    const most = Math.max(1, ...rows.map((row) => row.count));
    return rows
      .filter((row) => row.count > 0)
      .map((row) => `${row.label.padStart(9)} ${"█".repeat(Math.ceil((row.count / most) * 50))} ${row.count}`)
      .join("\n");
  }

  slices(): Slice[] {
    return [...this.#slices].map(([second, { admitted, account, key, failed, latency }]) => ({
      second,
      admitted,
      account,
      key,
      failed,
      p50: latency.percentile(50) / MICROSECONDS,
      p99: latency.percentile(99) / MICROSECONDS,
    }));
  }
}

function newRow(): Row {
  const latency = createHistogram({ lowest: 1, highest: LONGEST, figures: 3 });
  return { offered: 0, admitted: 0, account: 0, key: 0, failed: 0, latency };
}

function rowOf<Name>(rows: Map<Name, Row>, name: Name): Row {
  const row = rows.get(name) ?? newRow();
  rows.set(name, row);
  return row;
}

function count(row: Row, { verdict, fault, answer }: Outcome): void {
  if (fault !== undefined) row.failed++;
  row.latency.record(Math.min(LONGEST, Math.max(1, Math.round(answer.ms * MICROSECONDS))));
  if (verdict === "free" || verdict === "rejected") return;
  row.offered++;
  if (verdict !== "unknown") row[verdict]++;
}

function table(rows: readonly (readonly [string, Row])[], first: string): string {
  const text = new Table({
    head: [first, ...COLUMNS],
    colAligns: ["left", ...COLUMNS.map(() => "right" as const)],
    style: { head: [], border: [], compact: true },
  });
  for (const [name, { offered, admitted, account, key, failed, latency }] of rows) {
    const percentile = (at: number): string => (latency.percentile(at) / MICROSECONDS).toFixed(1);
    text.push([name, offered, admitted, account, key, failed, percentile(50), percentile(99)]);
  }
  return text.toString();
}
