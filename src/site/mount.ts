import type Router from "@koa/router";
import type { Context } from "koa";
import type { ApiState } from "../api/admit.ts";
import { codedTag, keptTag } from "../http/entity-tags.ts";
import { codingsFor, negotiate } from "../http/negotiate.ts";
import { problem } from "../problems.ts";
import { type Encoding, NOT_FOUND, type Page, pages } from "./pages.ts";

/** Route, and its name in the log. The first that fits counts. */
const ROUTES = {
  "/docs": "docs",
  "/docs/assets/:file": "docsAsset",
  "/docs/{*page}": "docs",
  "/console": "console",
} as const;

/**
 * Every page keeps to this. All scripts and styles are files of this origin, and requests go to this origin alone.
 * `data:` is for the icons in the style sheet of swagger-ui.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "form-action 'none'",
].join("; ");

const HEADERS = {
  // A copy may be kept, but is checked before each use: after an upgrade a page and its scripts are of one version.
  "Cache-Control": "public, no-cache",
  "Content-Security-Policy": POLICY,
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
};

/** Adds the documentation and the console to the router. They need no key and charge no limit. */
export function mountSite(router: Router<ApiState>): void {
  for (const [path, name] of Object.entries(ROUTES))
    router.get(path, async (ctx) => {
      ctx.state.endpointName = name;
      ctx.state.route = path;
      const all = await pages();
      const page = all.get(ctx.path);
      if (page !== undefined) return sendPage(ctx, page);
      const missing = all.get(NOT_FOUND);
      ctx.vary("Accept");
      if (missing === undefined || prefersJson(ctx))
        throw problem("not_found", "This page does not exist. Read /docs for all pages.");
      // No entity tag: the answer to a client that sends it back would be 404 without a body.
      ctx.status = 404;
      sendBody(ctx, missing, encodingFor(ctx));
    });
}

function prefersJson({ req }: Context): boolean {
  const [best] = negotiate("accept", req.headers.accept, ["application/json", "text/html"]);
  return best !== "text/html";
}

function sendPage(ctx: Context, page: Page): void {
  const encoding = encodingFor(ctx);
  const kept = keptTag(ctx.req.headers, page.tag);
  ctx.set("ETag", kept ?? codedTag(page.tag, encoding));
  if (kept !== undefined) {
    ctx.set(HEADERS);
    ctx.vary("Accept-Encoding");
    ctx.status = 304;
    return;
  }
  sendBody(ctx, page, encoding);
}

function sendBody(ctx: Context, { type, bodies }: Page, encoding: Encoding): void {
  ctx.set(HEADERS);
  ctx.vary("Accept-Encoding");
  if (encoding !== "identity") ctx.set("Content-Encoding", encoding);
  ctx.body = bodies[encoding];
  ctx.set("Content-Type", type);
}

function encodingFor(ctx: Context): Encoding {
  return codingsFor(ctx.req.headers["accept-encoding"])[0];
}
