import type { Registry } from "prom-client";
import { numberText } from "../infra/text-format.ts";

/** How several processes' values of one series become one. Names are those of prom-client. */
type Aggregator = "sum" | "max" | "min" | "first" | "average" | "omit";

/** One metric: the lines `# HELP` and `# TYPE`, and its series in the order in which they first came. */
interface Family {
  readonly help: string;
  readonly aggregator: Aggregator;
  /** Whether its values only grow, so that those of ended processes count. */
  readonly counts: boolean;
  readonly series: Series[];
}

interface Series {
  /** Its name and labels, and the space before the value. */
  readonly prefix: string;
  /** The sum of the processes that have ended. */
  ended: number | undefined;
  /** The value in the sum that is being made. */
  value: number | undefined;
  /** The series that came after it in the last text. The next text usually has the same order. */
  next: Series | undefined;
}

const HASH = "#".charCodeAt(0);

/** Types whose values only grow. */
const COUNTING = new Set(["counter", "histogram"]);

/**
 * Adds up the metrics of the processes that share a port. Source: the Prometheus text format 0.0.4.
 *
 * prom-client's own aggregation takes 30 to 150 ms for what four busy processes export. It also fails if one of
 * them does not answer, and its counters fall if one of them ends, which Prometheus takes for a restart.
 *
 * A scrape has thousands of lines, and looking each of them up by its text takes most of the time. So each line is first
 * compared with the series that followed last time.
 */
export class Expositions {
  readonly #aggregators: ReadonlyMap<string, Aggregator>;
  readonly #families = new Map<string, Family>();
  /** Keys are the prefixes. No label grows with accounts, so neither does this. */
  readonly #series = new Map<string, Series>();

  /** @param registries have every metric that may occur. They say how each is aggregated. */
  constructor(registries: readonly Registry[]) {
    const metrics = registries.flatMap((registry) => registry.getMetricsAsArray());
    this.#aggregators = new Map(metrics.map((metric) => [metric.name, aggregatorOf(metric)]));
  }

  /** Keeps the counts of a process that has ended. @param text the last that it exported. */
  keep(text: string): void {
    this.#read(text, (series, value, { counts }) => {
      if (counts) series.ended = (series.ended ?? 0) + value;
    });
  }

  /** Returns one text for all processes. @param texts one for each process that runs. */
  sum(texts: readonly string[]): string {
    for (const series of this.#series.values()) series.value = series.ended;
    for (const text of texts)
      this.#read(text, (series, value, { aggregator }) => {
        series.value = combined(series.value, value, aggregator);
      });
    return this.#print();
  }

  /** Calls `take` with each series of a text, in its order. */
  #read(text: string, take: (series: Series, value: number, family: Family) => void): void {
    let help = "";
    let family: Family | undefined;
    let last: Series | undefined;
    for (let start = 0, end = 0; start < text.length; start = end + 1) {
      end = text.indexOf("\n", start);
      if (end === -1) end = text.length;
      // Only few lines are comments, and startsWith takes long.
      if (text.charCodeAt(start) === HASH) {
        if (text.startsWith("# HELP ", start)) help = text.slice(start, end);
        else if (text.startsWith("# TYPE ", start)) family = this.#family(help, text.slice(start, end));
      } else if (end > start && family !== undefined) {
        let series = last?.next;
        // Comparing a slice is several times faster than startsWith.
        if (series === undefined || text.slice(start, start + series.prefix.length) !== series.prefix) {
          series = this.#seriesOf(family, text.slice(start, text.lastIndexOf(" ", end) + 1));
          if (last !== undefined) last.next = series;
        }
        take(series, numberOf(text.slice(start + series.prefix.length, end)), family);
        last = series;
      }
    }
  }

  #family(help: string, type: string): Family {
    const [, , name = "", word = ""] = type.split(" ");
    let family = this.#families.get(name);
    if (family === undefined) {
      const aggregator = this.#aggregators.get(name) ?? "sum";
      family = { help: `${help}\n${type}`, aggregator, counts: COUNTING.has(word), series: [] };
      this.#families.set(name, family);
    }
    return family;
  }

  #seriesOf(family: Family, slice: string): Series {
    let series = this.#series.get(slice);
    if (series === undefined) {
      const prefix = Buffer.from(slice).toString(); // a slice would keep the whole text in memory
      series = { prefix, ended: undefined, value: undefined, next: undefined };
      this.#series.set(prefix, series);
      family.series.push(series);
    }
    return series;
  }

  #print(): string {
    let text = "";
    for (const { help, series, aggregator } of this.#families.values()) {
      if (aggregator === "omit") continue;
      text += `${help}\n`;
      for (const { prefix, value } of series) if (value !== undefined) text += `${prefix}${numberText(value)}\n`;
    }
    return text;
  }
}

function combined(before: number | undefined, value: number, aggregator: Aggregator): number {
  if (before === undefined) return value;
  if (aggregator === "max") return Math.max(before, value);
  if (aggregator === "min") return Math.min(before, value);
  return aggregator === "sum" ? before + value : before;
}

/** prom-client's types do not declare the member that its aggregation reads. */
function aggregatorOf(metric: object): Aggregator {
  return "aggregator" in metric ? (metric.aggregator as Aggregator) : "sum";
}

function numberOf(text: string): number {
  const value = Number(text);
  return Number.isNaN(value) ? Number(text.replace("Inf", "Infinity")) : value;
}
