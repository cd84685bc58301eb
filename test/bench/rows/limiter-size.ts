import type { Bench } from "../bench.ts";
import { type FilledBench, withEmptyDatabase } from "../empty-database.ts";
import { withRepeatedAnswers } from "../repeated-answers.ts";
import type { Section } from "../report.ts";
import { decisionRows } from "./limiter-decision.ts";
import { measureEdge } from "./limiter-edge.ts";
import { accountMemoryRow } from "./limiter-memory.ts";
import { preparePolls } from "./limiter-polls.ts";
import { scriptRow } from "./limiter-script.ts";

/** Measures how many accounts and decisions one Redis bears, and what requests cost that should need it less. */
export function limiterSizeRows(bench: Bench): Promise<Section> {
  return withEmptyDatabase(bench, (filled) =>
    withRepeatedAnswers(bench, (repeating) => sectionOf({ ...filled, mongodbUrl: repeating.mongodbUrl }, repeating)),
  );
}

/** @param own uses a database of Redis that no row empties. In an empty one, each poller would be looked up again. */
async function sectionOf(bench: FilledBench, own: Bench): Promise<Section> {
  // First, so that these keys are cold when all the others are measured.
  const polls = await preparePolls(own);
  const script = await scriptRow(bench);
  const decisions = await decisionRows(bench);
  const memory = await accountMemoryRow(bench);
  const edge = await measureEdge(bench);
  const ofPolls = await polls.measure();
  return {
    title: "The limiter: what one Redis bears",
    tables: [...decisions.tables, ...edge.tables],
    rows: [script, ...decisions.ofRedis, memory, edge.row, ...ofPolls, ...decisions.ofRefusals],
    charts: edge.charts,
  };
}
