import { Readable } from "node:stream";
import type { Context, Middleware } from "koa";
import type { Logger } from "pino";
import { sendProblem } from "../http/problem.ts";
import { checkHost, checkPath, type Draining, requestIdOf, warnerOfProxies } from "../http/request.ts";
import type { NewId } from "../infra/ids.ts";
import { describeFailure, withoutRedaction } from "../infra/log.ts";
import type { Metrics } from "../infra/metrics.ts";
import type { Tracing } from "../infra/otel.ts";
import type { ApiState } from "./admit.ts";
import { refusalLine, type RefusalLineOptions } from "./refusal-line.ts";

export interface ObserveOptions extends RefusalLineOptions {
  newId: NewId;
  log: Logger;
  metrics: Metrics;
  /** Hops of X-Forwarded-For to believe. 0 believes none: the client's address is that of the connection. */
  trustedProxies: number;
  draining: Draining;
}

type Ctx = Context & { state: ApiState };

/**
 * Outermost middleware: assigns the request id, records metrics and the access log, checks host and path, and turns errors
 * into problem+json. While draining, tells each client to open a new connection: another replica accepts it. One
 * middleware, because each costs a request several promises.
 */
export function observeRequests(options: ObserveOptions): Middleware<ApiState> {
  const { newId, log, metrics, trustedProxies, draining } = options;
  const logRequest = requestLog(log, options);
  const warnOfProxy = trustedProxies === 0 ? warnerOfProxies(log) : () => undefined;
  return async (ctx, next) => {
    const started = performance.now();
    ctx.state.requestId = requestIdOf(ctx.req, newId);
    ctx.res.setHeader("X-Request-Id", ctx.state.requestId);
    metrics.activeRequests.inc();
    ctx.res.once("close", () => {
      metrics.activeRequests.dec();
      measure(metrics, ctx, started);
      logRequest(ctx, started);
    });
    warnOfProxy(ctx.req);
    try {
      checkHost(ctx.req);
      checkPath(ctx.path);
      await next();
    } catch (error) {
      await sendProblem(ctx, error);
    }
    if (ctx.req.socket.destroyed && ctx.body instanceof Readable) ctx.body.destroy(); // nobody will read it
    if (draining.started) ctx.set("Connection", "close");
  };
}

/** The methods of RFC 9110 and RFC 5789. */
const KNOWN_METHODS = new Set(["CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"]);

/**
 * Measures a request whose response has been sent, or whose connection has broken. Node knows two dozen methods more than
 * HTTP has. They count as `_OTHER`, so that no client can make a series of each (OpenTelemetry, http.request.method).
 * @param started when the request began, by `performance.now()`.
 */
export function measure({ requestDuration }: Metrics, { method, state, res }: Ctx, started: number): void {
  const labels = {
    http_request_method: KNOWN_METHODS.has(method) ? method : "_OTHER",
    http_route: state.route ?? "",
    http_response_status_code: res.headersSent ? res.statusCode : "",
  };
  requestDuration.observe(labels, (performance.now() - started) / 1000);
}

/** Returns a function that writes the line of a request: at level info, or at level error if it has a failure. */
export function requestLog(log: Logger, options: RefusalLineOptions): (ctx: Ctx, started: number) => void {
  const lines = withoutRedaction(log);
  const ofRefusal = refusalLine(options);
  return ({ state, method, res }, started) => {
    const { failure, caller, decision, refused } = state;
    if (failure === undefined && !lines.isLevelEnabled("info")) return;
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
      ...(refused && ofRefusal(refused)),
      aborted: res.writableFinished ? undefined : true,
      error: failure === undefined ? undefined : describeFailure(failure),
    };
    if (failure === undefined) lines.info(line, "request");
    else lines.error(line, "request failed");
  };
}

/** Traces every request until its response has been sent or its connection has broken. */
export function traced(tracing: Tracing): Middleware<ApiState> {
  return ({ method, headers, state, res }, next) =>
    tracing.request({ method, headers }, async (span) => {
      state.traceId = span.traceId;
      res.once("close", () => span.end({ route: state.route, status: res.headersSent ? res.statusCode : undefined }));
      await next();
    });
}
