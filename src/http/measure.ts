import type { Context } from "koa";
import type { Metrics } from "../infra/metrics.ts";
import type { RequestState } from "./request.ts";

/** The methods of RFC 9110 and RFC 5789. */
const KNOWN_METHODS = new Set(["CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"]);

/**
 * Measures a request whose answer has been sent, or whose connection has broken. Node knows two dozen methods more than
 * HTTP has. They count as `_OTHER`, so that no client can make a series of each (OpenTelemetry, http.request.method).
 * @param started when the request began, by `performance.now()`.
 */
export function measure(
  { requestDuration }: Metrics,
  { method, state, res }: Context & { state: RequestState },
  started: number,
): void {
  const labels = {
    http_request_method: KNOWN_METHODS.has(method) ? method : "_OTHER",
    http_route: state.route ?? "",
    http_response_status_code: res.headersSent ? res.statusCode : "",
  };
  requestDuration.observe(labels, (performance.now() - started) / 1000);
}
