import { type Logger, type LoggerOptions, pino } from "pino";
import { Problem } from "../problems.ts";

/**
 * The process's log: JSON lines on standard output. Code logs only named facts, never headers, bodies or queries. The
 * redaction is the second line of defence, in case an object with a key or personal data is ever passed.
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

/** Name, message and stack of an error and its causes. Other members stay out: a driver's error may carry documents. */
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
