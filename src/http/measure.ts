import type { Middleware } from "koa";
import type { Metrics } from "../infra/metrics.ts";
import type { RequestState } from "./request.ts";

/**
 * Measures every request until its answer has been sent or its connection has broken. A client cannot make up a method:
 * Node refuses those that it does not know.
 */
export function measure({ activeRequests, requestDuration }: Metrics): Middleware<RequestState> {
  return async (ctx, next) => {
    const started = performance.now();
    activeRequests.inc();
    ctx.res.once("close", () => {
      activeRequests.dec();
      const labels = {
        http_request_method: ctx.method,
        http_route: ctx.state.route ?? "",
        http_response_status_code: ctx.res.headersSent ? ctx.res.statusCode : "",
      };
      requestDuration.observe(labels, (performance.now() - started) / 1000);
    });
    await next();
  };
}
