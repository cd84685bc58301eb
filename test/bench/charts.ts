import type { Chart } from "./report.ts";

/** One value of a plot. `series` has a colour of its own, `panel` a plot of its own. */
export interface Point {
  readonly series: string;
  readonly x: number | string;
  readonly y: number;
}

interface Axes {
  readonly title: string;
  readonly caption: string;
  /** With units. */
  readonly xTitle: string;
  readonly yTitle: string;
  readonly points: readonly Point[];
}

const WIDTH = 640;
const HEIGHT = 300;

interface LineOptions {
  /** Spaces both axes by powers. */
  readonly log?: boolean;
  /** Holds each value until the next. */
  readonly steps?: boolean;
  /** Values of x that get a dashed line. */
  readonly edges?: readonly number[];
}

/** A line for each series. */
export function lineChart({ log = false, steps = false, edges = [], ...axes }: Axes & LineOptions): Chart {
  const scale = (name: "x" | "y", range: "width" | "height") => ({
    name,
    type: log ? "log" : "linear",
    range,
    domain: { data: "points", field: name },
    zero: !log && name === "y",
    nice: name === "y",
  });
  const at = { x: { scale: "x", field: "x" }, y: { scale: "y", field: "y" } };
  const stroke = { scale: "colour", field: "series" };
  const line = { ...at, stroke, strokeWidth: { value: 2 }, interpolate: { value: steps ? "step-after" : "linear" } };
  const lines = {
    type: "group",
    from: { facet: { name: "one", data: "points", groupby: "series" } },
    marks: [
      { type: "line", from: { data: "one" }, encode: { enter: line } },
      ...(steps
        ? []
        : [{ type: "symbol", from: { data: "one" }, encode: { enter: { ...at, fill: stroke, size: { value: 40 } } } }]),
    ],
  };
  const dashes = edges.map((edge) => ({
    type: "rule",
    encode: {
      enter: {
        x: { scale: "x", value: edge },
        y: { value: 0 },
        y2: { signal: "height" },
        stroke: { value: "#555" },
        strokeDash: { value: [4, 4] },
      },
    },
  }));
  const scales = [scale("x", "width"), scale("y", "height")];
  return chart(axes, { scales, marks: [...dashes, lines], legend: "stroke" });
}

/** Bars side by side for each x, stacked by series: one below the other in the order of the points. */
export function stackedBars(axes: Axes): Chart {
  const height = axes.points.length * 14;
  return chart(
    axes,
    {
      scales: [
        { name: "x", type: "linear", range: "width", domain: { data: "stacked", field: "y1" }, nice: true },
        { name: "y", type: "band", range: "height", domain: { data: "points", field: "x" }, padding: 0.25 },
      ],
      marks: [
        {
          type: "rect",
          from: { data: "stacked" },
          encode: {
            enter: {
              x: { scale: "x", field: "y0" },
              x2: { scale: "x", field: "y1" },
              y: { scale: "y", field: "x" },
              height: { scale: "y", band: 1 },
              fill: { scale: "colour", field: "series" },
            },
          },
        },
      ],
      legend: "fill",
      data: [{ name: "stacked", source: "points", transform: [{ type: "stack", groupby: ["x"], field: "y" }] }],
    },
    Math.max(height, 120),
  );
}

function chart(
  { title, caption, xTitle, yTitle, points }: Axes,
  {
    scales,
    marks,
    legend,
    data = [],
  }: { scales: object[]; marks: object[]; legend: "stroke" | "fill"; data?: object[] },
  height = HEIGHT,
): Chart {
  const colour = { name: "colour", type: "ordinal", range: "category", domain: { data: "points", field: "series" } };
  const spec = {
    $schema: "https://vega.github.io/schema/vega/v6.json",
    width: WIDTH,
    height,
    padding: 8,
    data: [{ name: "points", values: points }, ...data],
    scales: [...scales, colour],
    axes: [
      { orient: "bottom", scale: "x", title: xTitle, grid: true },
      { orient: "left", scale: "y", title: yTitle, grid: legend === "stroke", labelLimit: 420 },
    ],
    legends: [
      {
        [legend]: "colour",
        labelLimit: 400,
        orient: "bottom",
        columns: 2,
        symbolType: legend === "fill" ? "square" : "stroke",
      },
    ],
    marks,
  };
  return { title, caption, spec };
}
