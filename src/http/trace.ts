import type { Middleware } from "koa";
import type { Tracing } from "../infra/tracing.ts";
import type { RequestState } from "./request.ts";

/** Traces every request until its answer has been sent or its connection has broken. */
export function traced(tracing: Tracing): Middleware<RequestState> {
  return (ctx, next) =>
    tracing.request({ method: ctx.method, headers: ctx.headers }, async (span) => {
      ctx.state.traceId = span.traceId;
      ctx.res.once("close", () => {
        const status = ctx.res.headersSent ? ctx.res.statusCode : undefined;
        span.end({ route: ctx.state.route, status });
      });
      await next();
    });
}
