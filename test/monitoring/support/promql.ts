import { parser } from "@prometheus-io/lezer-promql";

/** The names that a query uses. */
export interface Names {
  readonly metrics: ReadonlySet<string>;
  /** Labels that it compares, groups by or joins on. */
  readonly labels: ReadonlySet<string>;
}

/** Reads the names of metrics and labels in PromQL queries. @throws if one of them is not valid PromQL. */
export function namesIn(queries: readonly string[]): Names {
  const metrics = new Set<string>();
  const labels = new Set<string>();
  for (const query of queries) {
    parser.parse(query).iterate({
      enter({ type, from, to }) {
        if (type.isError) throw new Error(`This is not valid PromQL at character ${from}: ${query}`);
        if (type.name === "Identifier") metrics.add(query.slice(from, to));
        if (type.name === "LabelName") labels.add(query.slice(from, to));
      },
    });
  }
  return { metrics, labels };
}
