import { mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The traces of one module that were checked. */
export interface TraceChecks {
  readonly module: string;
  readonly traces: number;
  readonly events: number;
  /** How many events were recorded, if not all of them may have been checked: long traces are cut. */
  readonly recorded?: number;
  /** Every kind of event that was checked. */
  readonly kinds: ReadonlySet<string>;
  readonly seconds: number;
  /** One line for each trace that is no behaviour of the module: which one, and at which event. */
  readonly refused: readonly string[];
}

/** A run of the real code that is recorded. It needs Redis and MongoDB, as the tests do. */
export interface TracedRun {
  readonly about: string;
  /** Writes the traces to a folder. */
  readonly record: (folder: string) => Promise<void>;
  /** What the recording must hold, so that its check is no check of nothing: so many traces, and these kinds of events. */
  readonly traces: number;
  readonly kinds: readonly string[];
}

/** What a file test/model/…-trace.ts exports. */
export interface TraceModule {
  /** The beginning of the names of its files: "limiter" for limiter-1.ndjson. */
  readonly TRACE_PREFIX: string;
  readonly RUNS: readonly TracedRun[];
  /** Checks the traces in a folder. */
  readonly checkTraces: (folder: string) => Promise<TraceChecks>;
}

/** Loads the checkers: every file test/model/…-trace.ts. */
export async function traceModules(): Promise<TraceModule[]> {
  const folder = new URL(".", import.meta.url);
  const files = readdirSync(folder).filter((file) => file.endsWith("-trace.ts"));
  return Promise.all(files.toSorted().map((file) => import(new URL(file, folder).href) as Promise<TraceModule>));
}

/** Records a run, and checks its traces. */
export async function recordAndCheck({ checkTraces }: TraceModule, { record }: TracedRun): Promise<TraceChecks> {
  const folder = mkdtempSync(join(tmpdir(), "onboarding-traces-"));
  await record(folder);
  return checkTraces(folder);
}
