import type { Context } from "koa";
import type { Logger } from "pino";
import { describeFailure } from "../infra/log.ts";
import type { ApiState } from "./state.ts";

/**
 * Logs the line of a request whose answer has been sent, or whose connection has broken.
 * @param started when the request began, by `performance.now()`.
 */
export function logRequest(log: Logger, ctx: Context & { state: ApiState }, started: number): void {
  const { requestId, traceId, endpointName, caller, decision, failure } = ctx.state;
  const line = {
    request_id: requestId,
    trace_id: traceId,
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
}
