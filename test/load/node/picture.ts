import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { type Mark, parse, type Spec, View } from "vega";
import type { Slice } from "./figures.ts";

const WIDTH = 760;
const HEIGHT = 180;
const GAP = 60;
const VERDICTS = { admitted: "#2a7f3f", account: "#d08a00", key: "#e6c229", failed: "#b3261e" } as const;
const LATENCIES = { p50: "#4a6fa5", p99: "#16213e" } as const;

/** Writes an SVG of what was admitted and refused in each second, and of the latency. */
export async function drawPicture(file: string, title: string, slices: readonly Slice[]): Promise<void> {
  const verdicts = slices.flatMap((slice) => rowsOf(slice, Object.keys(VERDICTS) as (keyof typeof VERDICTS)[]));
  const latencies = slices.flatMap((slice) => rowsOf(slice, Object.keys(LATENCIES) as (keyof typeof LATENCIES)[]));
  const spec: Spec = {
    $schema: "https://vega.github.io/schema/vega/v6.json",
    width: WIDTH,
    height: 2 * HEIGHT + GAP,
    padding: 10,
    background: "white",
    title: { text: title, anchor: "start" },
    data: [
      {
        name: "verdicts",
        values: verdicts,
        transform: [{ type: "stack", groupby: ["second"], field: "value" }],
      },
      { name: "latencies", values: latencies },
    ],
    scales: [
      {
        name: "x",
        type: "linear",
        range: "width",
        domain: [0, Math.max(1, ...slices.map(({ second }) => second + 1))],
      },
      { name: "count", range: [HEIGHT, 0], nice: true, zero: true, domain: { data: "verdicts", field: "y1" } },
      {
        name: "ms",
        range: [2 * HEIGHT + GAP, HEIGHT + GAP],
        nice: true,
        zero: true,
        domain: { data: "latencies", field: "value" },
      },
      { name: "verdict", type: "ordinal", domain: Object.keys(VERDICTS), range: Object.values(VERDICTS) },
      { name: "latency", type: "ordinal", domain: Object.keys(LATENCIES), range: Object.values(LATENCIES) },
    ],
    axes: [
      { orient: "bottom", scale: "x", title: "seconds" },
      { orient: "left", scale: "count", title: "answers in a second", grid: true },
      { orient: "right", scale: "ms", title: "latency, ms", grid: true },
    ],
    legends: [
      { fill: "verdict", title: "admitted, refused by" },
      { stroke: "latency", title: "latency", symbolType: "stroke" },
    ],
    marks: [bars(), lines()],
  };
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, await new View(parse(spec), { renderer: "none" }).toSVG());
}

function rowsOf<Name extends keyof Slice>(
  slice: Slice,
  names: readonly Name[],
): { second: number; name: Name; value: number }[] {
  return names.map((name) => ({ second: slice.second, name, value: slice[name] }));
}

function bars(): Mark {
  return {
    type: "rect",
    from: { data: "verdicts" },
    encode: {
      enter: {
        x: { scale: "x", field: "second" },
        x2: { scale: "x", signal: "datum.second + 1" },
        y: { scale: "count", field: "y0" },
        y2: { scale: "count", field: "y1" },
        fill: { scale: "verdict", field: "name" },
      },
    },
  };
}

function lines(): Mark {
  return {
    type: "group",
    from: { facet: { name: "line", data: "latencies", groupby: "name" } },
    marks: [
      {
        type: "line",
        from: { data: "line" },
        encode: {
          enter: {
            x: { scale: "x", signal: "datum.second + 0.5" },
            y: { scale: "ms", field: "value" },
            stroke: { scale: "latency", field: "name" },
            strokeWidth: { value: 2 },
          },
        },
      },
    ],
  };
}
