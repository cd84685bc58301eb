import type { ServerResponse } from "node:http";
import Router from "@koa/router";
import type { Context, Middleware } from "koa";
import type { Caller, Requester } from "../accounts/caller.ts";
import type { AuditedReads } from "../audit/reads.ts";
import { BinaryResponse, jsonResponse, type JsonResponse, send } from "../http/response.ts";
import { ifMatch, keptTag } from "../http/entity-tags.ts";
import { sendRefusal } from "../http/problem.ts";
import { headerOf } from "../http/request.ts";
import { placeFor } from "../http/unsent.ts";
import { type Idempotency, parseIdempotencyKey } from "../idempotency/idempotency.ts";
import { lazy } from "../infra/lazy.ts";
import type { NewId } from "../infra/ids.ts";
import { isRefusal, RESTORING } from "../problems.ts";
import { admit, type AdmitOptions, type ApiState } from "./admit.ts";
import type { Outcomed, Route } from "./endpoint.ts";
import { labelled, type LabelledEntry } from "./entries.ts";
import { type BodyQuery, bodyReader, queryReader, type ReadBody } from "./input.ts";
import { openApi } from "./openapi.ts";

export interface MountOptions extends AdmitOptions {
  idempotency: Idempotency;
  newId: NewId;
  bodyTimeoutMs: number;
  /** Maximum size of a file, in bytes. */
  maxFileBytes: number;
  /** Finds the candidate that has an external_id. */
  candidates: { idOf(accountId: string, externalId: string): Promise<string | undefined> };
  reads: Pick<AuditedReads, "note">;
  /** `signal` is aborted while nobody may be served. */
  restore: { readonly signal: AbortSignal };
}

type Ctx = Context & { state: ApiState; params: Record<string, string> };

/**
 * Creates a router for the routes and for GET /openapi.json, which describes them. Each route checks the key, charges
 * the surface, reads the query and the body, and does the work, in this order (interface.md).
 */
export function mount(routes: readonly Route[], options: MountOptions): Router<ApiState> {
  const router = new Router<ApiState>({ sensitive: true, strict: true });
  for (const route of routes) router.register(route.path, [route.method], handlerOf(route, options));
  const contract = lazy(async (): Promise<JsonResponse> => {
    const response = await jsonResponse(200, openApi(routes));
    const headers = { ...response.headers, "Cache-Control": "public, max-age=300" };
    return { ...response, headers, coded: new Map() };
  });
  router.get("/openapi.json", async (ctx) => {
    ctx.state.endpointName = "openapi";
    ctx.state.route = "/openapi.json";
    await send(ctx, await contract());
  });
  return router;
}

function handlerOf(route: Route, options: MountOptions): Middleware<ApiState> {
  const readQuery = queryReader(route);
  const readBody = bodyReader(route, options);
  const namesCandidate = route.path.startsWith("/candidates/:id");
  /** Returns what a request is charged. The count of a bulk request is in its query; if that cannot be read, nothing is charged. */
  const chargeOf = (querystring: string): ReturnType<Parameters<typeof admit>[1]> => {
    const { surface, dryRun, entries } = route;
    // This reads the raw query, which is validated only after the charge.
    if (dryRun !== undefined && new URLSearchParams(querystring).get("dry_run") === "true")
      return { surface: dryRun.surface };
    if (entries === undefined) return { surface };
    try {
      return { surface, cost: (readQuery(querystring) as BodyQuery).count };
    } catch {
      return { surface: "free" };
    }
  };
  return async (context) => {
    const ctx = context as Ctx;
    ctx.state.endpointName = route.name;
    ctx.state.route = route.path;
    if (options.restore.signal.aborted) return sendRefusal(ctx, RESTORING);
    const { querystring } = ctx;
    const caller = await admit(ctx, () => chargeOf(querystring), options);
    if (isRefusal(caller)) return sendRefusal(ctx, caller);
    const query = readQuery(querystring);
    if (namesCandidate) await nameCandidate(ctx, caller, options);
    if (route.surface === "list") await placeFor(caller.accountId, ctx.res);
    const read = await readBody(ctx.req, caller, ctx.params, query as BodyQuery);
    const response = await responseOf(ctx, route, { caller, query, ...read }, options);
    if (route.audited !== undefined && response.status < 300 && ctx.method === "GET")
      options.reads.note(caller, route.audited(ctx.params));
    await send(ctx, response);
  };
}

/** Does the work. For a POST with an Idempotency-Key, does it once, however often the request is sent. */
async function responseOf(
  ctx: Ctx,
  route: Route,
  { caller, query, body, warnings, file, fingerprint }: ReadBody & { caller: Requester; query: unknown },
  { idempotency, newId, candidates }: MountOptions,
): Promise<JsonResponse | BinaryResponse> {
  const { req, res, params } = ctx;
  const header = (name: string) => headerOf(req, name);
  const input = {
    caller,
    requestId: ctx.state.requestId,
    params,
    query,
    body,
    warnings,
    file,
    newId,
    precondition: ifMatch(header("if-match")),
    clientHas: (tag: string) => keptTag(req.headers, tag) !== undefined,
    clientLeft: () => closedEarly(res),
    header,
    usage: ctx.state.usage,
  };
  let handled = false;
  const work = async (id: NewId): Promise<JsonResponse | BinaryResponse> => {
    handled = true; // from here on the handler owns the file: only the handler knows whether a record names it
    const result = await route.handle({ ...input, newId: id });
    if (result instanceof BinaryResponse) return result;
    if (result === undefined) return new BinaryResponse(204, {});
    const { outcome, value } = route.outcomes ? (result as Outcomed) : { outcome: undefined, value: result };
    const status = outcome === undefined || outcome === "created" ? route.status : 200;
    const location = status === 201 ? route.location?.(value) : undefined;
    const options = { location, volatile: route.volatile, tagged: route.tagged?.(value) };
    const response = await jsonResponse(status, value, options);
    if (outcome === undefined) return response;
    response.headers["Onboarding-Outcome"] = outcome;
    return { ...response, subject: value.id };
  };
  try {
    // Even a dry run parses the key: it is refused whenever the real request would be. An empty key is refused, not ignored:
    // its client expects protection against duplicates.
    const field = req.headers["idempotency-key"];
    const key = route.method === "POST" && typeof field === "string" ? parseIdempotencyKey(field) : undefined;
    if (route.dryRun !== undefined && (query as { dry_run?: boolean }).dry_run === true)
      return await jsonResponse(200, await route.dryRun.handle(input));
    const { on_conflict } = query as { on_conflict?: string };
    const { external_id } = Object(body) as { external_id?: string | null };
    const isMerge = key !== undefined && route.outcomes && on_conflict && external_id;
    const one = isMerge ? await candidates.idOf(caller.accountId, external_id) : params["id"];
    const request = {
      accountId: caller.accountId,
      subject: route.entries === undefined ? one : SEVERAL,
      creates: route.creates,
      fingerprint: `${ctx.method} ${ctx.path}?${ctx.querystring}\n${fingerprint}`,
    };
    const response = key === undefined ? await work(newId) : await idempotency.once({ ...request, key }, work);
    if (route.entries === undefined || response instanceof BinaryResponse) return response;
    return labelled(response, body as LabelledEntry[], route.entries.repeats);
  } finally {
    if (file !== undefined && !handled) await route.upload?.discard(file);
  }
}

/** The subject of a request about several candidates. Its stored response shows none of them, so no erasure removes it. */
const SEVERAL = "several";

const EXTERNAL = "external:";

/**
 * Puts the candidate's id in the place of `external:EXTERNAL_ID` in the path. If there is no such candidate, the path stays as it
 * is: no id looks like it, and a retry still gets its stored response. One more round trip to the store.
 */
async function nameCandidate({ params }: Ctx, { accountId }: Caller, { candidates }: MountOptions): Promise<void> {
  const { id } = params;
  if (id?.startsWith(EXTERNAL)) params["id"] = (await candidates.idOf(accountId, id.slice(EXTERNAL.length))) ?? id;
}

/** Returns a signal that is aborted when the connection closes before the whole response was sent. */
function closedEarly(res: ServerResponse): AbortSignal {
  const closed = new AbortController();
  const check = () => (res.writableFinished ? undefined : closed.abort());
  if (res.req.socket.destroyed) check();
  else res.once("close", check);
  return closed.signal;
}
