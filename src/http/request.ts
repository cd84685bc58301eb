import type Router from "@koa/router";
import type { Middleware } from "koa";
import type { NewId } from "../infra/ids.ts";
import { problem } from "../problems.ts";
import type { RequestState } from "../api/state.ts";

/** Whether the process is on its way out; set once, by the server. */
export interface Draining {
  started: boolean;
}

/** X-Request-Id on every response: the client's own where it is 1-128 plain characters, else a new one. */
export function requestId(newId: NewId): Middleware<RequestState> {
  return async (ctx, next) => {
    const given = ctx.get("X-Request-Id");
    ctx.state.requestId = /^[\w.:+/=-]{1,128}$/.test(given) ? given : newId("req");
    ctx.set("X-Request-Id", ctx.state.requestId);
    await next();
  };
}

/** While draining, each answer tells its client to open a new connection, which another replica will take. */
export function closeWhileDraining(draining: Draining): Middleware<RequestState> {
  return async (ctx, next) => {
    await next();
    if (draining.started) ctx.set("Connection", "close");
  };
}

/** @throws problem malformed_request where an HTTP/1.1 request names no Host, or several (RFC 9112, 3.2). */
export const oneHost: Middleware<RequestState> = async ({ req }, next) => {
  const hosts = req.headersDistinct["host"]?.length ?? 0;
  if (hosts > 1 || (hosts === 0 && req.httpVersion === "1.1")) {
    throw problem("malformed_request", "A request names its Host, once.", { headers: { Connection: "close" } });
  }
  await next();
};

/** @throws problem malformed_path where the path's percent-encoding is broken or not UTF-8. */
export const soundPath: Middleware<RequestState> = async (ctx, next) => {
  try {
    decodeURIComponent(ctx.path);
  } catch {
    throw problem("malformed_path", "The path has a percent sign that is not followed by two hexadecimal digits of UTF-8 text.");
  }
  await next();
};

/** 404 for a path that no endpoint has, 405 with Allow for a method that the path does not take. Neither is charged. */
export function unrouted(router: Router<RequestState>): Middleware<RequestState> {
  return async (ctx, next) => {
    const { path, route } = router.match(ctx.path, ctx.method);
    if (route) return next();
    if (path.length === 0) throw problem("not_found", "No endpoint has this path.");
    const allow = [...new Set(path.flatMap(({ methods }) => methods))].toSorted().join(", ");
    throw problem("method_not_allowed", `This path takes ${allow}.`, { headers: { Allow: allow } });
  };
}
