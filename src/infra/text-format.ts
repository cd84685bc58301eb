import type { MetricObjectWithValues, MetricValue, Registry } from "prom-client";

type Labels = Readonly<Record<string, unknown>>;

/** A value as a histogram gives it to its registry: the labels of the series, apart from `le`, are one shared object. */
interface Exported extends MetricValue<string> {
  readonly metricName?: string;
  readonly sharedLabels?: Labels;
}

type Family = Omit<MetricObjectWithValues<Exported>, "aggregator">;

/** What histograms of prom-client have beside their declared members. Their `get` would copy the labels of each value. */
interface Exporting {
  getForPromString?(): Promise<Family>;
  get(): Promise<Family>;
}

/** The labels that the values of a series share, as text. */
const sharedTexts = new WeakMap<Labels, string>();

/**
 * Writes the metrics of several registries. Source: the Prometheus text format 0.0.4.
 *
 * Registry.metrics() of prom-client takes more than twice the time: 12 ms for the 330 pairs of a route and a status that
 * clients can cause, which have 5,700 lines.
 */
export async function textOf(registries: readonly Registry[]): Promise<string> {
  const metrics = registries.flatMap((registry) => registry.getMetricsAsArray()) as unknown as Exporting[];
  const families = await Promise.all(metrics.map((metric) => metric.getForPromString?.() ?? metric.get()));
  let text = "";
  for (const { name, help, type, values } of families) {
    text += `# HELP ${name} ${escaped(help)}\n# TYPE ${name} ${type}\n`;
    for (const { metricName = name, labels, sharedLabels, value } of values) {
      const list = listOf(labels, sharedLabels);
      text += list === "" ? `${metricName} ${numberText(value)}\n` : `${metricName}{${list}} ${numberText(value)}\n`;
    }
  }
  return text;
}

/** Returns the labels of a series as they stand between the braces. */
function listOf(labels: Labels, shared: Labels | undefined): string {
  let list = "";
  // Several times faster than Object.entries. The objects are plain ones.
  for (const name in labels) list += `${list === "" ? "" : ","}${labelText(name, labels[name])}`;
  const rest = shared === undefined ? "" : sharedText(shared);
  return list === "" || rest === "" ? list + rest : `${list},${rest}`;
}

function sharedText(shared: Labels): string {
  let text = sharedTexts.get(shared);
  if (text === undefined) {
    text = Object.entries(shared)
      .map(([name, value]) => labelText(name, value))
      .join(",");
    sharedTexts.set(shared, text);
  }
  return text;
}

function labelText(name: string, value: unknown): string {
  return `${name}="${typeof value === "string" ? escaped(value).replaceAll('"', '\\"') : String(value)}"`;
}

function escaped(text: string): string {
  return /[\\\n]/.test(text) ? text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n") : text;
}

/** Returns a number as the text format has it: NaN and infinities have words of their own. */
export function numberText(value: number): string {
  if (Number.isFinite(value) || Number.isNaN(value)) return String(value);
  return value > 0 ? "+Inf" : "-Inf";
}
