import type { Cursor } from "../../src/candidates/feed.ts";
import type { FeedEvent, FeedTrace, PageEvent, TracedRow } from "./feed-events.ts";

/** The clocks of a recorder and of a replica on the same machine differ by less, in milliseconds. */
const CLOCKS_DIFFER_MS = 50;
/** The numbers of a trace begin this long before its first event, in milliseconds: cursors lag behind. */
const BEFORE_MS = 60_000;

/** The module that TLC checks, which contains the traces, and its configuration. */
export interface TraceModule {
  readonly text: string;
  readonly cfg: string;
}

/** Turns traces that have the same constants into a module that extends FeedTrace. */
export function traceModule(name: string, traces: readonly FeedTrace[]): TraceModule {
  const lagMs = traces[0]?.constants.lagMs ?? 0;
  const ids = traces.map(({ events }) => idsIn(events));
  const candidates = Math.max(1, ...ids.map((each) => each.length));
  const texts = traces.map((trace, n) => `Trace${n + 1} == ${literalOf(trace.events, ids[n]!, candidates + 1)}`);
  const text = [
    `---- MODULE ${name} ----`,
    "EXTENDS FeedTrace",
    ...texts,
    `TheTraces == <<${traces.map((_, n) => `Trace${n + 1}`).join(", ")}>>`,
    `TheCandidates == 1..${candidates}`,
    "====",
  ];
  const cfg = [
    "SPECIFICATION Spec",
    "CONSTANTS",
    "  Traces <- TheTraces",
    "  Candidates <- TheCandidates",
    `  Lag = ${lagMs}`,
    `  ClocksDiffer = ${CLOCKS_DIFFER_MS}`,
    `  Protections = {${ALL.map((each) => `"${each}"`).join(", ")}}`,
    "CHECK_DEADLOCK FALSE",
  ];
  return { text: text.join("\n"), cfg: `${cfg.join("\n")}\n` };
}

/** The protections that the rules of FeedRules.tla ask for. */
const ALL = ["place-after-before", "compare-and-set", "safe-stays-behind", "step-back", "lag", "marks"];

/** Candidates have numbers in the order of their ids, so that places sort as in the service. */
function idsIn(events: readonly FeedEvent[]): string[] {
  const rows = events.flatMap((event) =>
    event.type === "write" ? [event.row] : event.type === "page" ? event.rows : [],
  );
  return [...new Set(rows.map(({ change }) => change.slice(16)))].toSorted();
}

function literalOf(events: readonly FeedEvent[], ids: readonly string[], stride: number): string {
  const times = events.flatMap((event) => (event.type === "write" ? [timeOf(event.row.change)] : []));
  const base = Math.min(...times, ...events.flatMap((event) => ("now" in event ? [event.now] : []))) - BEFORE_MS;
  const time = (epochMs: number) => Math.max(epochMs - base, 0);
  const numberOf = (id: string) => ids.indexOf(id) + 1;
  const place = (change: string) => (change === "" ? 0 : time(timeOf(change)) * stride + numberOf(change.slice(16)));
  const cursor = ({ after, safe }: Cursor) => `[after |-> ${place(after)}, safe |-> ${place(safe)}]`;
  const members = ({ change, version, deleted }: TracedRow) =>
    `v |-> ${version}, at |-> ${time(timeOf(change))}, del |-> ${truth(deleted)}`;
  const row = (each: TracedRow) => `[c |-> ${numberOf(each.change.slice(16))}, ${members(each)}]`;
  const eventOf = (event: FeedEvent): string => {
    if (event.type === "end") return `[type |-> "end", passed |-> ${truth(event.passed)}]`;
    if (event.type === "marks")
      return `[type |-> "marks", now |-> ${time(event.now)}, until |-> {${event.until.map(time).join(", ")}}]`;
    if (event.type === "write")
      return `[type |-> "write", c |-> ${numberOf(event.row.change.slice(16))}, before |-> ${event.before}, row |-> [${members(event.row)}], applied |-> ${truth(event.applied)}]`;
    const { after, limit, rows, more, read = NOT_READ } = event;
    const got = read.rows.map(({ id, version }) => `<<${numberOf(id)}, ${version}>>`).join(", ");
    return `[type |-> "page", now |-> ${time(event.now) + CLOCKS_DIFFER_MS}, after |-> ${place(after)}, limit |-> ${limit}, rows |-> <<${rows.map(row).join(", ")}>>, more |-> ${truth(more)}, read |-> ${truth(event.read !== undefined)}, from |-> ${cursor(read.from)}, to |-> ${cursor(read.to)}, got |-> <<${got}>>, gotMore |-> ${truth(read.more)}]`;
  };
  return `<<\n${events.map(eventOf).join(",\n")}>>`;
}

const START: Cursor = { after: "", safe: "" };
const NOT_READ: NonNullable<PageEvent["read"]> = { from: START, to: START, rows: [], more: false };

function timeOf(change: string): number {
  return Number(change.slice(0, 15));
}

function truth(value: boolean): string {
  return value ? "TRUE" : "FALSE";
}
