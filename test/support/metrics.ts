/** Every series that a service exports. Keys are names with labels, as Prometheus writes them. */
export class Scrape {
  readonly #series: ReadonlyMap<string, number>;

  constructor(text: string) {
    const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
    this.#series = new Map(
      lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ") + 1))]),
    );
  }

  /** The names of all series, without labels. */
  get names(): Set<string> {
    return new Set([...this.#series.keys()].map((key) => key.replace(/\{.*/, "")));
  }

  /** Every value of a label. */
  valuesOf(label: string): Set<string> {
    const pattern = new RegExp(`[{,]${label}="([^"]*)"`);
    return new Set([...this.#series.keys()].flatMap((key) => pattern.exec(key)?.[1] ?? []));
  }

  /** Returns the sum of the series with this name and at least these labels. Undefined if there is none. */
  value(name: string, labels: Record<string, string> = {}): number | undefined {
    const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
    const found = [...this.#series].filter(
      ([key]) =>
        key.replace(/\{.*/, "") === name &&
        wanted.every((pair) => key.includes(`{${pair}`) || key.includes(`,${pair}`)),
    );
    return found.length === 0 ? undefined : found.reduce((sum, [, value]) => sum + value, 0);
  }
}

/** Scrapes the metrics of a running service. */
export async function scrape({ opsUrl }: { opsUrl: string }): Promise<Scrape> {
  const response = await fetch(`${opsUrl}/metrics`);
  if (response.status !== 200) throw new Error(`GET /metrics answered ${response.status}: ${await response.text()}`);
  return new Scrape(await response.text());
}
