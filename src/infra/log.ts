import { type Logger, type LoggerOptions, pino } from "pino";
import { Problem } from "../problems.ts";

/**
 * Creates the log of the process: JSON lines on standard output. Code logs only named fields, never headers, bodies or
 * queries. The redaction is a second safeguard, in case an object with a key or personal data is logged by mistake.
 */
export function createLog(level: string, destination?: { write(line: string): void }): Logger {
  const options: LoggerOptions = {
    level,
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: {
      paths: SENSITIVE.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
      censor: "[redacted]",
    },
  };
  return destination === undefined ? pino(options) : pino(options, destination);
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
