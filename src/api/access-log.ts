import type { Context } from "koa";
import type { Logger } from "pino";
import { describeFailure, withoutRedaction } from "../infra/log.ts";
import type { ApiState } from "./state.ts";

/** Writes the line of a request. Call it when the answer has been sent or its connection has broken. */
export type LogRequest = (ctx: Context & { state: ApiState }, started: number) => void;

/**
 * Returns what writes one line per request. Does nothing for requests without a failure if the log's level is above info.
 * Parameter `started` is when the request came, by `performance.now()`.
 */
export function requestLog(log: Logger): LogRequest {
  const lines = withoutRedaction(log);
  return ({ state, method, res }, started) => {
    const { failure } = state;
    if (failure === undefined && !lines.isLevelEnabled("info")) return;
    const { caller, decision } = state;
    // pino leaves out what is undefined.
    const line = {
      method,
      endpoint: state.endpointName ?? null,
      request_id: state.requestId,
      trace_id: state.traceId,
      status: res.statusCode,
      ms: Math.round((performance.now() - started) * 10) / 10,
      account: caller?.accountId,
      key_id: caller?.keyId,
      surface: decision?.surface,
      verdict: decision?.verdict,
      window: decision?.window,
      aborted: res.writableFinished ? undefined : true,
      error: failure === undefined ? undefined : describeFailure(failure),
    };
    if (failure === undefined) lines.info(line, "request");
    else lines.error(line, "request failed");
  };
}
