import type Router from "@koa/router";
import type { Context } from "koa";
import type { ApiState } from "../api/admit.ts";
import { codedTag, keptTag } from "../http/entity-tags.ts";
import { codingsFor, negotiate } from "../http/negotiate.ts";
import { problem } from "../problems.ts";
import { NOT_FOUND, type Page, pages } from "./pages.ts";

/** Route, and its name in the log. The first that fits counts. */
const ROUTES = { "/docs": "docs", "/docs/assets/:file": "docsAsset", "/docs/{*page}": "docs", "/console": "console" };

/**
 * Every page keeps to this. All scripts and styles are files of this origin, and requests go to this origin alone.
 * `data:` is for the icons in the style sheet of swagger-ui.
 */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
  "base-uri 'none'; frame-ancestors 'none'; form-action 'none'";

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
      if (page !== undefined) return send(ctx, page, 200);
      const missing = all.get(NOT_FOUND);
      ctx.vary("Accept");
      const [best] = negotiate("accept", ctx.req.headers.accept, ["application/json", "text/html"]);
      if (missing === undefined || best !== "text/html")
        throw problem("not_found", "This page does not exist. Read /docs for all pages.");
      send(ctx, missing, 404);
    });
}

function send(ctx: Context, { type, tag, bodies }: Page, status: 200 | 404): void {
  const encoding = codingsFor(ctx.req.headers["accept-encoding"]).find((coding) => bodies[coding]) ?? "identity";
  ctx.set(HEADERS);
  ctx.vary("Accept-Encoding");
  // A 404 has no entity tag: a client that sent it back would get no body.
  const kept = status === 200 ? keptTag(ctx.req.headers, tag) : undefined;
  if (status === 200) ctx.set("ETag", kept ?? codedTag(tag, encoding));
  ctx.status = kept === undefined ? status : 304;
  if (kept !== undefined) return;
  if (encoding !== "identity") ctx.set("Content-Encoding", encoding);
  ctx.body = bodies[encoding];
  ctx.set("Content-Type", type);
}
