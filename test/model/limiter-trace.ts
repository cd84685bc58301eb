import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { firstWrongClock } from "./limiter-clock.ts";
import type { LimiterEvent } from "./limiter-events.ts";
import { type LimiterTrace, moduleOf } from "./limiter-module.ts";
import { runTlc } from "./tlc.ts";
import { recordService } from "./service-runs.ts";
import type { TraceChecks, TracedRun } from "./trace-checks.ts";
import { recordCalls } from "./limiter-runs.ts";

export const TRACE_PREFIX = "limiter";

/** What operators' commands and requests do, besides charges that are admitted. */
const COMMANDS = ["put", "fill", "remove", "version", "usage", "list", "draw drawn", "draw none"];
const REFUSALS = ["key_exhausted", "account_exhausted", "outdated"];
const KINDS = [...COMMANDS, ...["admitted", ...REFUSALS].map((verdict) => `charge ${verdict}`)];

export const RUNS: readonly TracedRun[] = [
  {
    about: "random calls of the scripts",
    record: recordCalls,
    traces: 40,
    kinds: [...KINDS, "charge replaced", "charge stale", "draw stale", "ledger"],
  },
  {
    about: "two replicas of the service, with operators and a bad network",
    record: recordService,
    traces: 3,
    kinds: KINDS,
  },
];

/** Longer traces are cut here: their beginning is a trace, too. */
const MAX_EVENTS = 10_000;
/** A run checks at most so many events. The longest traces are cut so that each has its share. */
const MAX_EVENTS_IN_ALL = 60_000;
const MODULE = "LimiterTraces";

const WRONG_CLOCK = "the answer's clock is not between the recorder's times";

/** A trace that is no behaviour of the module. */
export interface Refused {
  readonly trace: LimiterTrace;
  /** The number of the event, from 1. */
  readonly event: number;
  /** What the module would have answered. */
  readonly expected: string;
}

/** Checks the traces of all files limiter-….ndjson in a folder. */
export async function checkTraces(folder: string): Promise<TraceChecks> {
  const started = performance.now();
  const all = readTraces(folder);
  const traces = withinBounds(all);
  const refused = await refusedOf(traces);
  return {
    module: "Limiter",
    traces: traces.length,
    events: traces.reduce((sum, { events }) => sum + events.length, 0),
    recorded: all.reduce((sum, each) => sum + each.recorded, 0),
    kinds: new Set(traces.flatMap(({ events }) => events.map(kindOf))),
    seconds: (performance.now() - started) / 1000,
    refused: refused.map(
      ({ trace, event, expected }) =>
        `${trace.account}, event ${event}: ${JSON.stringify(trace.events[event - 1])}; the module: ${expected}`,
    ),
  };
}

function kindOf(event: LimiterEvent): string {
  if (event.do === "draw") return `draw ${event.answer?.outcome ?? "lost"}`;
  return event.do === "charge" ? `charge ${event.answer?.verdict ?? "lost"}` : event.do;
}

/** Returns the traces that TLC refuses. It checks all traces of one length of window in one run. */
export async function refusedOf(traces: readonly LimiterTrace[]): Promise<Refused[]> {
  const refused: Refused[] = [];
  for (const windowMs of new Set(traces.map((trace) => trace.windowMs)))
    refused.push(...(await refusedOfWindow(traces.filter((trace) => trace.windowMs === windowMs))));
  return refused;
}

async function refusedOfWindow(traces: readonly LimiterTrace[]): Promise<Refused[]> {
  const text = moduleOf(MODULE, traces);
  const { printed } = await runTlc({ module: MODULE, text, cfg: cfgOf(traces[0]!.windowMs), heap: "2g" });
  const lines = printed.map((line) => /^"(accepted|refused) (\d+) (\d+) ?(.*)"$/.exec(line) ?? []);
  const accepted = new Set(lines.filter(([, word]) => word === "accepted").map(([, , number]) => Number(number)));
  return traces.flatMap((trace, index) => {
    const wrongClock = firstWrongClock(trace.events);
    if (accepted.has(index + 1)) return wrongClock === 0 ? [] : [{ trace, event: wrongClock, expected: WRONG_CLOCK }];
    // If an answer was lost there are two ways to go on. The trace is refused where the longer one ends.
    const [event, expected] = lines
      .filter(([, word, number]) => word === "refused" && Number(number) === index + 1)
      .map(([, , , position, rest]) => [Number(position), rest ?? ""] as const)
      .reduce((a, b) => (b[0] > a[0] ? b : a), [0, "TLC did not say"]);
    const clockFirst = wrongClock > 0 && wrongClock < event;
    return [clockFirst ? { trace, event: wrongClock, expected: WRONG_CLOCK } : { trace, event, expected }];
  });
}

/** All protections of the script are in place, and its ledger is that of lua/charge.lua. */
function cfgOf(windowMs: number): string {
  return [
    "SPECIFICATION Spec",
    "CONSTANTS",
    `  Window = ${windowMs}`,
    "  Outlives = 2700000",
    `  Protections = {${PROTECTIONS.map((name) => JSON.stringify(name)).join(", ")}}`,
    "  Traces <- TheTraces",
    "CHECK_DEADLOCK FALSE",
    "",
  ].join("\n");
}

/** Every name that the module of the scripts asks for. */
const PROTECTIONS = [
  ...new Set(
    Array.from(
      readFileSync(new URL("LimiterScript.tla", import.meta.url), "utf8").matchAll(/Has\("([^"]+)"\)/g),
      ([, name = ""]) => name,
    ),
  ),
];

/** A trace, and how many events were recorded of its account: the trace may have been cut. */
export interface RecordedTrace extends LimiterTrace {
  readonly recorded: number;
}

/** Reads the traces of all files limiter-….ndjson in a folder: one for each account. */
export function readTraces(folder: string): RecordedTrace[] {
  const files = readdirSync(folder).filter((file) => file.startsWith(`${TRACE_PREFIX}-`));
  return files.flatMap((file) => tracesIn(readFileSync(join(folder, file), "utf8")));
}

function tracesIn(lines: string): RecordedTrace[] {
  const accounts = new Map<string, LimiterEvent[]>();
  for (const line of lines.split("\n").filter(Boolean)) {
    const event = JSON.parse(line) as LimiterEvent;
    if (event.do === "flush") for (const events of accounts.values()) events.push(event);
    else if (accounts.has(event.account)) accounts.get(event.account)!.push(event);
    else accounts.set(event.account, [event]);
  }
  return [...accounts].flatMap(([account, all]) => {
    const windowMs = all.map(windowOf).find((window) => window !== undefined);
    if (windowMs === undefined) return []; // nothing was decided
    const end = endOf(all, windowMs);
    const events = all.slice(0, Math.min(end, MAX_EVENTS));
    return events.some((event) => windowOf(event) !== undefined)
      ? [{ account, windowMs, events, recorded: all.length }]
      : [];
  });
}

/**
 * Returns how many events can be checked: those before a change that the service never makes, and before another length of
 * window. @throws if a script ran that the recorder does not know: the service may use it, so the trace must not end silently.
 */
function endOf(events: readonly LimiterEvent[], windowMs: number): number {
  let lastWindow = -1;
  for (const [index, event] of events.entries()) {
    if (event.do === "other") {
      if (/^EVAL/i.test(event.command)) throw new Error(`The recorder does not know this script: ${event.command}`);
      return index;
    }
    // A clock that steps back leaves a ledger of a later window. One of this window was reset by hand.
    if (event.do === "ledger" && event.window !== null && event.window <= lastWindow) return index;
    if ((windowOf(event) ?? windowMs) !== windowMs) return index;
    lastWindow = Math.max(lastWindow, Math.floor((nowOf(event) ?? 0) / windowMs));
  }
  return events.length;
}

/** Redis's clock, as far as the event tells it. */
function nowOf(event: LimiterEvent): number | undefined {
  if (event.do === "charge" || event.do === "draw") return event.answer?.now ?? event.at;
  return event.do === "usage" ? event.now : undefined;
}

function windowOf(event: LimiterEvent): number | undefined {
  return event.do === "charge" || event.do === "usage" ? event.windowMs : undefined;
}

function withinBounds(traces: readonly LimiterTrace[]): LimiterTrace[] {
  let left = MAX_EVENTS_IN_ALL;
  const shortFirst = traces.toSorted((a, b) => a.events.length - b.events.length);
  return shortFirst.map((trace, index) => {
    const events = trace.events.slice(0, Math.floor(left / (traces.length - index)));
    left -= events.length;
    return { ...trace, events };
  });
}
