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
  const log: Logger = pino(options, destination ?? logOutput(reportDropped));
  return log;
}

/**
 * Returns a log for the same destination that does not redact. Redaction takes 40 µs a line. Pass it only names, numbers
 * and ids that the service made itself.
 */
export function withoutRedaction(log: Logger): Logger {
  return log.child({}, { redact: [] });
}

const SENSITIVE = [
  "authorization",
  '["x-api-key"]',
  "key",
  "apiKey",
  "secret",
  "args",
  "name",
  "email",
  "phone",
  "headers",
  "body",
];

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
