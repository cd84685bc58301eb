import { Readable } from "node:stream";
import type { Middleware } from "koa";
import type { Logger } from "pino";
import { sendProblem } from "../http/problem.ts";
import { checkHost, checkPath, type Draining, requestIdOf, warnerOfProxies } from "../http/request.ts";
import { loggedAddress } from "../infra/address.ts";
import type { NewId } from "../infra/ids.ts";
import { describeFailure, withoutRedaction } from "../infra/log.ts";
import type { Metrics } from "../infra/metrics.ts";
import type { Tracing } from "../infra/otel.ts";
import type { ApiState, Ctx } from "./admit.ts";
import type { Route } from "./endpoint.ts";

export interface ObserveOptions {
  log: Logger;
  /** The names in their schemas may be logged. */
  routes: readonly Pick<Route, "params" | "query" | "body" | "upload">[];
  /** LOG_CLIENT_ADDRESS */
  logAddress: "truncated" | "full";
  newId: NewId;
  metrics: Metrics;
  /** Hops of X-Forwarded-For to believe. 0 believes none: the client's address is that of the connection. */
  trustedProxies: number;
  draining: Draining;
}

/**
 * Outermost middleware: assigns the request id, records metrics and the access log, checks host and path, and turns errors
 * into problem+json. While draining, tells each client to open a new connection: another replica accepts it. One
 * middleware, because each costs a request several promises.
 */
export function observeRequests(options: ObserveOptions): Middleware<ApiState> {
  const { newId, log, metrics, trustedProxies, draining } = options;
  const logRequest = requestLog(options);
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
export function requestLog({ log, routes, logAddress }: Pick<ObserveOptions, "log" | "routes" | "logAddress">) {
  const lines = withoutRedaction(log);
  const known = new Set<string>();
  for (const { params, query, body, upload } of routes) addNames([params, query, body, upload?.form], known);
  return ({ state, method, res }: Ctx, started: number): void => {
    const { failure, decision, refused } = state;
    if (failure === undefined && !lines.isLevelEnabled("info")) return;
    const { code, extras } = refused?.refusal ?? {};
    const caller = state.caller ?? extras?.about;
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
      cost: state.cost,
      code,
      reason: extras?.reason,
      pointers: extras?.errors?.slice(0, MAX_POINTERS).map(({ pointer }) => withoutUnknown(pointer, known)),
      client_address: refused && loggedAddress(refused.address, logAddress),
      aborted: res.writableFinished ? undefined : true,
      error: failure === undefined ? undefined : describeFailure(failure),
    };
    if (failure === undefined) lines.info(line, "request");
    else lines.error(line, "request failed");
  };
}

/** Maximum number of faults whose place is logged, and maximum length of a place. */
const MAX_POINTERS = 5;
const MAX_POINTER = 200;

/** Adds the names of all members that a schema knows. */
function addNames(schema: unknown, names: Set<string>): void {
  if (typeof schema !== "object" || schema === null) return;
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === "properties") for (const name of Object.keys(value as object)) names.add(name);
    addNames(value, names);
  }
}

/** Returns a pointer without the names that the client made up: they may be personal data. */
function withoutUnknown(pointer: string, known: ReadonlySet<string>): string {
  const isKnown = (name: string) => known.has(name) || /^\d{1,3}$/.test(name);
  return pointer.replaceAll(/(?<=\/)[^/]+/g, (name) => (isKnown(name) ? name : "…")).slice(0, MAX_POINTER);
}

/** Traces every request until its response has been sent or its connection has broken. */
export function traced(tracing: Tracing): Middleware<ApiState> {
  return ({ method, headers, state, res }, next) =>
    tracing.request(method, headers, async (traceId, end) => {
      state.traceId = traceId;
      res.once("close", () => end(state.route, res.headersSent ? res.statusCode : undefined));
      await next();
    });
}
