import type { Middleware } from "koa";
import { type Logger, type LoggerOptions, pino } from "pino";
import { Problem } from "../problems.ts";
import type { RequestState } from "./state.ts";

/**
 * The process's log: JSON lines on standard output. Only named facts are logged, never headers, bodies or queries; the
 * redaction is the second line of defence should an object with a key or personal data ever be passed.
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

const SENSITIVE = ["authorization", '["x-api-key"]', "key", "apiKey", "secret", "args", "name", "email", "phone", "headers", "body"];

/** One line for each request, when its answer has gone out or its connection has broken. */
export function accessLog(log: Logger): Middleware<RequestState> {
  return async (ctx, next) => {
    const started = performance.now();
    ctx.res.once("close", () => {
      const { requestId, endpointName, caller, decision, failure } = ctx.state;
      const line = {
        request_id: requestId,
        method: ctx.method,
        endpoint: endpointName ?? null,
        status: ctx.res.statusCode,
        ms: Math.round((performance.now() - started) * 10) / 10,
        account: caller?.accountId,
        key_id: caller?.keyId,
        surface: decision?.surface,
        verdict: decision?.verdict,
        window: decision?.window,
        ...(ctx.res.writableFinished ? {} : { aborted: true }),
      };
      if (failure === undefined) log.info(line, "request");
      else log.error({ ...line, error: describeFailure(failure) }, "request failed");
    });
    await next();
  };
}

/** Name, message and stack of an error and its causes; driver errors may carry documents, which stay out. */
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
