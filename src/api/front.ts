import { Readable } from "node:stream";
import type { Middleware } from "koa";
import type { Logger } from "pino";
import { measure } from "../http/measure.ts";
import { answerProblem } from "../http/problem.ts";
import { checkHost, checkPath, type Draining, requestIdOf, warnerOfProxies } from "../http/request.ts";
import type { NewId } from "../infra/ids.ts";
import type { Metrics } from "../infra/metrics.ts";
import { requestLog } from "./access-log.ts";
import type { ApiState } from "./state.ts";

export interface FrontOptions {
  newId: NewId;
  log: Logger;
  metrics: Metrics;
  /** Hops of X-Forwarded-For to believe. 0 believes none: the client's address is that of the connection. */
  trustedProxies: number;
  draining: Draining;
}

/**
 * Does what every request has in common: gives it its id, measures and logs its end, checks its form, and answers every
 * error of later middleware with problem+json. While draining, tells each client to open a new connection: another
 * replica accepts it. One middleware, because each costs a request several promises.
 */
export function front({ newId, log, metrics, trustedProxies, draining }: FrontOptions): Middleware<ApiState> {
  const logRequest = requestLog(log);
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
      await answerProblem(ctx, error);
    }
    if (ctx.req.socket.destroyed && ctx.body instanceof Readable) ctx.body.destroy(); // nobody will read it
    if (draining.started) ctx.set("Connection", "close");
  };
}
