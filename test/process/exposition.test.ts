import { expect } from "chai";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { Expositions } from "../../src/process/exposition.ts";
import { Scrape } from "../support/metrics.ts";

/** What one process exports. */
interface Values {
  readonly count: number;
  readonly gauge: number;
  readonly observed: number;
}

function registryOf({ count, gauge, observed }: Values): Registry {
  const registry = new Registry();
  const registers = [registry];
  new Counter({ name: "count_total", help: "c", labelNames: ["text"], registers }).inc({ text: 'a "b" c} 1' }, count);
  for (const aggregator of ["sum", "max", "min", "first", "omit"] as const)
    new Gauge({ name: `gauge_${aggregator}`, help: "g", registers, aggregator }).set(gauge);
  new Histogram({ name: "time_seconds", help: "t", buckets: [1], registers }).observe(observed);
  return registry;
}

describe("The metrics of several processes", () => {
  const one = { count: 3, gauge: 5, observed: 0.5 };
  const other = { count: 4, gauge: 7, observed: 2 };
  const textOf = (values: Values) => registryOf(values).metrics();

  it("are added, or the highest or lowest of them, as each metric says", async () => {
    const expositions = new Expositions([registryOf(one)]);
    const sum = new Scrape(expositions.sum([await textOf(one), await textOf(other)]));
    expect(sum.value("count_total")).to.equal(7);
    expect(sum.value("gauge_sum")).to.equal(12);
    expect(sum.value("gauge_max")).to.equal(7);
    expect(sum.value("gauge_min")).to.equal(5);
    expect(sum.value("gauge_first")).to.equal(5);
    expect(sum.value("gauge_omit")).to.equal(undefined);
    expect(sum.value("time_seconds_bucket", { le: "1" })).to.equal(1);
    expect(sum.value("time_seconds_bucket", { le: "+Inf" })).to.equal(2);
    expect(sum.value("time_seconds_sum")).to.equal(2.5);
  });

  it("are added if a metric does not say how, and may be infinite", async () => {
    const textWith = (value: string) => `# HELP odd o\n# TYPE odd gauge\nodd ${value}\n`;
    const sumOf = (...values: string[]) => new Expositions([new Registry()]).sum(values.map(textWith));
    expect(sumOf("1", "2")).to.equal(textWith("3"));
    expect(sumOf("+Inf", "2")).to.equal(textWith("+Inf"));
    expect(sumOf("-Inf", "2")).to.equal(textWith("-Inf"));
    expect(sumOf("+Inf", "-Inf")).to.equal(textWith("NaN"));
  });

  it("are read from a text whose last line has no end, and without its empty lines and other comments", () => {
    const sum = (text: string) => new Expositions([new Registry()]).sum([text]);
    const text = "# HELP odd o\n# TYPE odd gauge\nodd 12";
    expect(sum(text)).to.equal(`${text}\n`);
    expect(sum("early 1\n# HELP odd o\n\n# EOF\n# TYPE odd gauge\n# other\n\nodd 12")).to.equal(`${text}\n`);
  });

  it("of one process are its own, line by line", async () => {
    const text = await textOf(one);
    const lines = (from: string) => from.split("\n").filter((line) => line !== "" && !line.includes("gauge_omit"));
    expect(lines(new Expositions([registryOf(one)]).sum([text]))).to.deep.equal(lines(text));
  });

  it("are right whatever the order of the series, and if one comes or goes", async () => {
    const expositions = new Expositions([registryOf(one)]);
    const textWith = async (...labels: string[]) => {
      const registry = new Registry();
      const counter = new Counter({ name: "count_total", help: "c", labelNames: ["text"], registers: [registry] });
      for (const text of labels) counter.inc({ text }, text.length);
      return registry.metrics();
    };
    const sumOf = async (...texts: string[][]) => {
      const sum = new Scrape(expositions.sum(await Promise.all(texts.map((labels) => textWith(...labels)))));
      return ["a", "ab", "abc"].map((text) => sum.value("count_total", { text }));
    };
    expect(await sumOf(["a", "ab", "abc"], ["abc", "a"])).to.deep.equal([2, 2, 6]);
    expect(await sumOf(["ab"], ["abc", "ab", "a"])).to.deep.equal([1, 4, 3]);
    expect(await sumOf(["a", "abc"])).to.deep.equal([1, undefined, 3]);
    expect(await sumOf(["a", "ab", "abc"], ["a", "ab", "abc"])).to.deep.equal([2, 4, 6]);
  });

  it("keep the counts of processes that have ended, and not their gauges", async () => {
    const expositions = new Expositions([registryOf(one)]);
    expositions.keep(await textOf(one));
    expositions.keep(await textOf(one));
    for (let scrapes = 0; scrapes < 2; scrapes++) {
      const sum = new Scrape(expositions.sum([await textOf(other)]));
      expect(sum.value("count_total")).to.equal(10);
      expect(sum.value("time_seconds_count")).to.equal(3);
      expect(sum.value("gauge_sum")).to.equal(7);
      expect(sum.value("gauge_min")).to.equal(7);
    }
  });
});
