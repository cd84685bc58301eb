import type { Registry } from "prom-client";

/** How several processes' values of one series become one. Names are those of prom-client. */
type Aggregator = "sum" | "max" | "min" | "first" | "average" | "omit";

/** The series of one metric, and the lines `# HELP` and `# TYPE` before them. */
interface Family {
  readonly help: string[];
  readonly counts: boolean;
  /** Keys are a series' name and labels, as they are written. */
  readonly series: Map<string, number>;
}

type Exposition = Map<string, Family>;

/**
 * Adds up the metrics of the processes that share a port. Source: the Prometheus text format 0.0.4.
 *
 * prom-client's own aggregation takes a fifth of a second for what four busy processes export. It also fails if one of
 * them does not answer, and its counters fall if one of them ends, which Prometheus takes for a restart.
 */
export class Expositions {
  readonly #aggregators: ReadonlyMap<string, Aggregator>;
  /** The last metrics of the processes that have ended. Only their counts are used. */
  readonly #ended: Exposition = new Map();

  /** @param registries have every metric that may occur. They say how each is aggregated. */
  constructor(registries: readonly Registry[]) {
    const metrics = registries.flatMap((registry) => registry.getMetricsAsArray());
    this.#aggregators = new Map(metrics.map((metric) => [metric.name, aggregatorOf(metric)]));
  }

  /** Keeps the counts of a process that has ended. @param text the last that it exported. */
  keep(text: string): void {
    this.#add(this.#ended, text);
  }

  /** Returns one text for all processes. @param texts one for each process that runs. */
  sum(texts: readonly string[]): string {
    const total: Exposition = new Map();
    for (const [name, family] of this.#ended)
      if (family.counts) total.set(name, { ...family, series: new Map(family.series) });
    for (const text of texts) this.#add(total, text);
    return print(total);
  }

  #add(into: Exposition, text: string): void {
    let family: Family | undefined;
    let aggregator: Aggregator = "sum";
    let help = "";
    for (const line of text.split("\n")) {
      if (line === "") continue;
      if (line.startsWith("# HELP ")) help = line;
      else if (line.startsWith("# TYPE ")) {
        const [, , name = "", type = ""] = line.split(" ");
        aggregator = this.#aggregators.get(name) ?? "sum";
        family = into.get(name) ?? { help: [help, line], counts: COUNTING.has(type), series: new Map() };
        if (aggregator !== "omit") into.set(name, family);
      } else if (family !== undefined) {
        const end = line.lastIndexOf(" ");
        combine(family.series, line.slice(0, end), numberOf(line.slice(end + 1)), aggregator);
      }
    }
  }
}

/** Types whose values only grow. */
const COUNTING = new Set(["counter", "histogram"]);

function combine(series: Map<string, number>, key: string, value: number, aggregator: Aggregator): void {
  const before = series.get(key);
  if (before === undefined) series.set(key, value);
  else if (aggregator === "max") series.set(key, Math.max(before, value));
  else if (aggregator === "min") series.set(key, Math.min(before, value));
  else if (aggregator === "sum") series.set(key, before + value);
}

/** prom-client's types do not declare the member that its aggregation reads. */
function aggregatorOf(metric: object): Aggregator {
  return "aggregator" in metric ? (metric.aggregator as Aggregator) : "sum";
}

function numberOf(text: string): number {
  return text.endsWith("Inf") ? Number(text.replace("Inf", "Infinity")) : Number(text);
}

function print(exposition: Exposition): string {
  const lines = [...exposition.values()].flatMap(({ help, series }) => [
    ...help,
    ...[...series].map(([key, value]) => `${key} ${String(value).replace("Infinity", "Inf")}`),
  ]);
  return `${lines.join("\n")}\n`;
}
