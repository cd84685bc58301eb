import Koa from "koa";
import type { Logger } from "pino";
import type { Endpoint } from "./api/endpoint.ts";
import { accessLog } from "./api/access-log.ts";
import { mount, type MountOptions } from "./api/mount.ts";
import { problems } from "./http/problem.ts";
import { closeWhileDraining, type Draining, oneHost, requestId, soundPath, unrouted } from "./http/request.ts";
import type { RequestState } from "./api/state.ts";

export interface AppOptions extends MountOptions {
  endpoints: readonly Endpoint[];
  log: Logger;
  /** Hops of X-Forwarded-For to believe; 0 takes the connection's own address. */
  trustedProxies: number;
  draining: Draining;
}

const CLIENT_GONE = new Set(["ERR_STREAM_PREMATURE_CLOSE", "ECONNRESET", "ECONNABORTED", "EPIPE"]);

/** The API as a Koa application: the middleware stack, outermost first, in the order of checks of interface.md. */
export function createApp(options: AppOptions): Koa<RequestState> {
  const app = new Koa<RequestState>({ proxy: options.trustedProxies > 0, maxIpsCount: options.trustedProxies });
  const router = mount(options.endpoints, options);
  app.use(requestId(options.newId));
  app.use(accessLog(options.log));
  app.use(closeWhileDraining(options.draining));
  app.use(problems);
  app.use(oneHost);
  app.use(soundPath);
  app.use(unrouted(router));
  app.use(router.routes());
  // Past `problems` an answer has begun: it can only break off. Where it is not the client that has gone, the log says so.
  app.on("error", (error: NodeJS.ErrnoException, ctx?: { state: RequestState }) => {
    if (CLIENT_GONE.has(error.code ?? "") || ctx === undefined) options.log.debug({ error: error.message }, "connection error");
    else ctx.state.failure ??= error;
  });
  return app;
}
