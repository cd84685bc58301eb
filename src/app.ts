import type { RequestListener } from "node:http";
import Koa from "koa";
import type { ApiState } from "./api/admit.ts";
import type { Route } from "./api/endpoint.ts";
import { mount, type MountOptions } from "./api/mount.ts";
import { observeRequests, type ObserveOptions, traced } from "./api/observe-requests.ts";
import { unrouted } from "./http/request.ts";
import type { Tracing } from "./infra/otel.ts";
import { mountPages, type PagesOptions } from "./reminders/pages/mount.ts";
import { mountSite } from "./site/mount.ts";

export interface AppOptions extends MountOptions, ObserveOptions {
  routes: readonly Route[];
  /** The pages for candidates and referees, if there are any. */
  pages: Pick<PagesOptions, "visits" | "documents"> | undefined;
  /** Undefined if tracing is off. */
  tracing: Tracing | undefined;
}

const CLIENT_GONE = new Set(["ERR_STREAM_PREMATURE_CLOSE", "ECONNRESET", "ECONNABORTED", "EPIPE"]);

/** A download that breaks off has 11 listeners for its end: ours, Koa's and the stream's. Node would warn of a leak. */
const MAX_LISTENERS = 20;

/** Creates the API for node:http: its middleware, outermost first, in the order of checks of interface.md. */
export function createApp(options: AppOptions): RequestListener {
  const app = new Koa<ApiState>({ proxy: options.trustedProxies > 0, maxIpsCount: options.trustedProxies });
  const router = mount(options.routes, options);
  mountSite(router);
  if (options.pages !== undefined) mountPages(router, { ...options, ...options.pages });
  if (options.tracing !== undefined) app.use(traced(options.tracing));
  app.use(observeRequests(options));
  app.use(router.routes());
  app.use(unrouted(router));
  // An error that passes `observeRequests` comes after the response has begun. Log it, unless the client left.
  app.on("error", (error: NodeJS.ErrnoException, ctx?: { state: ApiState }) => {
    if (CLIENT_GONE.has(error.code ?? "") || ctx === undefined)
      options.log.debug({ error: error.message }, "connection error");
    else ctx.state.failure ??= error;
  });
  const handle = app.callback();
  return (req, res) => {
    if (!req.socket.writable) return; // its last response was sent: no request that follows is carried out (RFC 9112, 9.6)
    res.setMaxListeners(MAX_LISTENERS);
    void handle(req, res);
  };
}
