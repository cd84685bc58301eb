import { existsSync, mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The traces of one module that were checked. */
export interface TraceChecks {
  readonly module: string;
  readonly traces: number;
  readonly events: number;
  /** How many events were recorded, if not all of them may have been checked: long traces are cut. */
  readonly recorded?: number;
  readonly seconds: number;
  /** One line for each trace that is no behaviour of the module: which one, and at which event. */
  readonly refused: readonly string[];
}

/** Checks the traces in a folder. */
export type TraceChecker = (folder: string) => Promise<TraceChecks>;

/** Records traces of the real code in a folder. It needs Redis and MongoDB, as the tests do. */
export type TraceMaker = (folder: string) => Promise<void>;

/** What a file test/model/…-trace.ts exports. */
export interface TraceModule {
  /** The beginning of the names of its files: "limiter" for limiter-1.ndjson. */
  readonly TRACE_PREFIX: string;
  readonly checkTraces: TraceChecker;
  readonly makeTraces: TraceMaker;
}

/** Loads the checkers: every file test/model/…-trace.ts. */
export async function traceModules(): Promise<TraceModule[]> {
  const folder = new URL(".", import.meta.url);
  const files = readdirSync(folder).filter((file) => file.endsWith("-trace.ts"));
  return Promise.all(files.toSorted().map((file) => import(new URL(file, folder).href) as Promise<TraceModule>));
}

/** Checks traces that it makes first, and those that tests have recorded in a folder, if one is given. */
export async function checkAll(checker: TraceModule, recorded: string | undefined): Promise<TraceChecks[]> {
  const made = mkdtempSync(join(tmpdir(), "onboarding-traces-"));
  await checker.makeTraces(made);
  const folders = recorded && hasTraces(checker, recorded) ? [made, recorded] : [made];
  const checks: TraceChecks[] = [];
  for (const folder of folders) checks.push(await checker.checkTraces(folder));
  return checks;
}

function hasTraces({ TRACE_PREFIX }: TraceModule, folder: string): boolean {
  return existsSync(folder) && readdirSync(folder).some((file) => file.startsWith(`${TRACE_PREFIX}-`));
}
