import type { Middleware } from "koa";
import type { Metrics } from "../infra/metrics.ts";
import type { RequestState } from "./request.ts";

/** The methods of RFC 9110 and RFC 5789. */
const KNOWN_METHODS = new Set(["CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"]);

/**
 * Measures every request until its answer has been sent or its connection has broken. Node knows two dozen methods more
 * than HTTP has. They count as `_OTHER`, so that no client can make a series of each (OpenTelemetry, http.request.method).
 */
export function measure({ activeRequests, requestDuration }: Metrics): Middleware<RequestState> {
  return async (ctx, next) => {
    const started = performance.now();
    activeRequests.inc();
    ctx.res.once("close", () => {
      activeRequests.dec();
      const labels = {
        http_request_method: KNOWN_METHODS.has(ctx.method) ? ctx.method : "_OTHER",
        http_route: ctx.state.route ?? "",
        http_response_status_code: ctx.res.headersSent ? ctx.res.statusCode : "",
      };
      requestDuration.observe(labels, (performance.now() - started) / 1000);
    });
    await next();
  };
}
