import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { FeedConstants, FeedEvent, FeedTrace } from "./feed-events.ts";
import { traceModule } from "./feed-trace-module.ts";
import { runTlc } from "./tlc.ts";
import type { TraceChecks, TracedRun } from "./trace-checks.ts";
import { recordClients, recordDeath } from "./feed-runs.ts";

/** The beginning of the names of the traces' files. */
export const TRACE_PREFIX = "feed";

const KINDS = ["insert", "page that was read", "marks", "end"];

export const RUNS: readonly TracedRun[] = [
  {
    about: "clients that change, erase and mirror through two replicas, and writes that are held back",
    record: recordClients,
    traces: 28,
    kinds: [...KINDS, "change", "change that lost a race", "tombstone"],
  },
  { about: "eight writers and a replica that is killed under them", record: recordDeath, traces: 1, kinds: KINDS },
];
const MODULE = "FeedTraces";

/**
 * Checks traces against FeedTrace.tla.
 * @returns for each trace, in their order, the number of the first event that the module refuses; 0 if it accepts all.
 * @throws if TLC fails.
 */
export async function checkFeedTraces(traces: readonly FeedTrace[]): Promise<number[]> {
  const results = traces.map(() => -1);
  // One run of TLC for each lag: it is a constant of the module.
  for (const lagMs of new Set(traces.map(({ constants }) => constants.lagMs))) {
    const numbers = traces.flatMap(({ constants }, n) => (constants.lagMs === lagMs ? [n] : []));
    const { printed, violated } = await runTlc({
      module: MODULE,
      ...traceModule(
        MODULE,
        numbers.map((n) => traces[n]!),
      ),
    });
    if (violated !== undefined) throw new Error(`TLC: ${violated}`);
    for (const line of printed) {
      const [, trace = "", event = ""] = /^<<(\d+), (\d+)>>$/.exec(line) ?? [];
      results[numbers[Number(trace) - 1]!] = Number(event);
    }
  }
  if (results.includes(-1)) throw new Error("TLC has not said what it found for each trace.");
  return results;
}

/** Reads a trace's file. */
export function readFeedTrace(file: string): FeedTrace {
  const [constants, ...events] = readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);
  return { constants: constants as FeedConstants, events: events as FeedEvent[] };
}

/** Checks every trace of the feed in a folder. */
export async function checkTraces(folder: string): Promise<TraceChecks> {
  const started = performance.now();
  const files = readdirSync(folder).filter((file) => file.startsWith(`${TRACE_PREFIX}-`));
  const traces = files.map((file) => readFeedTrace(join(folder, file)));
  const results = await checkFeedTraces(traces);
  const refused = results.flatMap((event, n) =>
    event === 0 ? [] : [`${files[n]}, event ${event}: ${JSON.stringify(traces[n]!.events[event - 1])}`],
  );
  const events = traces.reduce((sum, trace) => sum + trace.events.length, 0);
  return {
    module: "FeedTrace",
    traces: traces.length,
    events,
    kinds: new Set(traces.flatMap((trace) => trace.events.map(kindOf))),
    seconds: (performance.now() - started) / 1000,
    refused,
  };
}

function kindOf(event: FeedEvent): string {
  if (event.type === "page") return event.read === undefined ? "page" : "page that was read";
  if (event.type !== "write") return event.type;
  const kind = event.before === 0 ? "insert" : event.row.deleted ? "tombstone" : "change";
  return event.applied ? kind : `${kind} that lost a race`;
}
