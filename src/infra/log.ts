import { setTimeout } from "node:timers/promises";
import { type Logger, pino } from "pino";
import { Problem } from "../problems.ts";
import { logOutput } from "./log-output.ts";

/**
 * Creates the log of the process: JSON lines on standard output. Code logs only named fields, never headers, bodies or
 * queries. The redaction is a second safeguard.
 * @param destination gets each line at once, instead of standard output.
 */
export function createLog(level: string, destination?: { write(line: string): void }): Logger {
  const reportDropped = (lines: number) =>
    log.warn({ lines }, "log lines were dropped, because standard output was read too slowly");
  const redact = { paths: SENSITIVE.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: "[redacted]" };
  const options = { level, timestamp: pino.stdTimeFunctions.isoTime, redact };
  const output = destination ?? logOutput(reportDropped);
  const log: Logger = pino(options, output);
  outputs.set(log, output);
  return log;
}

/** Maximum time to wait for a reader of the log, and the pause between two attempts to write, in milliseconds. */
const [MAX_FLUSH_MS, RETRY_MS] = [10_000, 20];
const outputs = new WeakMap<Logger, { write(line: string): void }>();

export type LogLines = ReturnType<typeof linesIn>;

/** Writes lines of another form to a log, whatever its level. @param log a log of `createLog`. */
export function linesIn(log: Logger) {
  /** Returns false if the reader takes nothing at present. A pipe takes no fsync, which is then the error. */
  const flush = () =>
    new Promise<boolean>((resolve) => log.flush((error?: NodeJS.ErrnoException) => resolve(error?.code !== "EAGAIN")));
  return {
    write: (fields: object) => outputs.get(log)?.write(`${JSON.stringify(fields)}\n`),
    /** Resolves once what was written has left the process. Rejects if its reader is too slow. */
    async flushed(): Promise<void> {
      const until = performance.now() + MAX_FLUSH_MS;
      // The first flush that succeeds leaves up to 4 kB.
      for (let flushes = 0; flushes < 2;) {
        if (await flush()) flushes++;
        else if (performance.now() < until) await setTimeout(RETRY_MS);
        else throw new Error("The log is read too slowly.");
      }
    },
  };
}

/**
 * Returns a log for the same destination that does not redact. Redaction takes 40 µs a line. Pass it only names, numbers
 * and ids that the service made itself.
 */
export function withoutRedaction(log: Logger): Logger {
  return log.child({}, { redact: [] });
}

const SENSITIVE = 'authorization ["x-api-key"] key apiKey secret args name email phone headers body'.split(" ");

/** Returns only the name, message and stack of an error and its causes. A driver's error may hold documents. */
export function describeFailure(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: String(error) };
  return {
    type: error.name,
    message: error.message,
    stack: error.stack,
    ...(error instanceof Problem ? { code: error.code } : {}),
    ...(error.cause === undefined ? {} : { cause: describeFailure(error.cause) }),
  };
}
