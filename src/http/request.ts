import type Router from "@koa/router";
import type { DefaultState, Middleware } from "koa";
import type { NewId } from "../infra/ids.ts";
import { problem } from "../problems.ts";

/** What every middleware knows about a request. */
export interface RequestState extends DefaultState {
  requestId: string;
  /** The path of the route that answers, for example /candidates/:id. Undefined if no route does. */
  route?: string;
  /** Set if tracing is on. 32 hexadecimal digits. */
  traceId?: string;
  /** The error behind a 5xx, or behind an answer that broke off. Only for the log. */
  failure?: unknown;
}

/** Whether the process is shutting down. The server sets it, once. */
export interface Draining {
  started: boolean;
}

/** Puts X-Request-Id on every response: the client's own if it is 1-128 plain characters, else a new one. */
export function requestId(newId: NewId): Middleware<RequestState> {
  return async (ctx, next) => {
    const given = ctx.get("X-Request-Id");
    ctx.state.requestId = /^[\w.:+/=-]{1,128}$/.test(given) ? given : newId("req");
    ctx.set("X-Request-Id", ctx.state.requestId);
    await next();
  };
}

/** While draining, tells each client to open a new connection. Another replica will accept it. */
export function closeWhileDraining(draining: Draining): Middleware<RequestState> {
  return async (ctx, next) => {
    await next();
    if (draining.started) ctx.set("Connection", "close");
  };
}

/**
 * Warns once if a request has X-Forwarded-For. Use it if no proxy is trusted: all clients of a proxy then count as one
 * address, and one that sends wrong keys closes it for the others' wrong keys too.
 */
export function warnOfUntrustedProxy(log: { warn(message: string): void }): Middleware<RequestState> {
  let warned = false;
  return async (ctx, next) => {
    if (!warned && ctx.get("X-Forwarded-For") !== "") {
      warned = true;
      log.warn(
        "A request has X-Forwarded-For, but TRUSTED_PROXIES is 0, so the header is ignored. If a load balancer of yours sent it, set TRUSTED_PROXIES to the number of proxies that append to it.",
      );
    }
    await next();
  };
}

/** @throws problem malformed_request for an HTTP/1.1 request with no Host header, or with several (RFC 9112, 3.2). */
export const oneHost: Middleware<RequestState> = async ({ req }, next) => {
  const hosts = req.headersDistinct["host"]?.length ?? 0;
  if (hosts > 1 || (hosts === 0 && req.httpVersion === "1.1")) {
    throw problem("malformed_request", "Send exactly one Host header.", { headers: { Connection: "close" } });
  }
  await next();
};

/** @throws problem malformed_path if the path's percent-encoding is broken or not UTF-8. */
export const soundPath: Middleware<RequestState> = async (ctx, next) => {
  try {
    decodeURIComponent(ctx.path);
  } catch {
    throw problem(
      "malformed_path",
      "The path is not valid percent-encoded UTF-8. Encode each byte of the text as % and two hexadecimal digits.",
    );
  }
  await next();
};

/** Answers 404 for an unknown path, and 405 with Allow for a method that the path does not take. Neither is charged. */
export function unrouted(router: Pick<Router, "match">): Middleware<RequestState> {
  return async (ctx, next) => {
    const { path, route } = router.match(ctx.path, ctx.method);
    if (route) return next();
    if (path.length === 0) throw problem("not_found", "This path does not exist. Read /openapi.json for all paths.");
    const allow = [...new Set(path.flatMap(({ methods }) => methods))].toSorted().join(", ");
    throw problem("method_not_allowed", `This path does not take ${ctx.method}. Use ${allow}.`, {
      headers: { Allow: allow },
    });
  };
}
