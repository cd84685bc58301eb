import type { Middleware } from "koa";
import type { Logger } from "pino";
import { describeFailure } from "../infra/log.ts";
import type { ApiState } from "./state.ts";

/** Logs one line per request, once its answer has been sent or its connection has broken. */
export function accessLog(log: Logger): Middleware<ApiState> {
  return async (ctx, next) => {
    const started = performance.now();
    ctx.res.once("close", () => {
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
    });
    await next();
  };
}
