import Router from "@koa/router";
import type { Context, Middleware } from "koa";
import type { Caller } from "../accounts/caller.ts";
import type { NewId } from "../infra/ids.ts";
import { keyOf } from "../idempotency/key.ts";
import { ifMatch } from "../http/entity-tags.ts";
import { admit, type AdmitOptions } from "./admit.ts";
import { jsonAnswer, type JsonAnswer, send } from "../http/answer.ts";
import { BinaryAnswer, type Endpoint } from "./endpoint.ts";
import type { Idempotency } from "../idempotency/request.ts";
import { bodyReader, queryReader, type ReadBody } from "./input.ts";
import { openApi } from "./openapi.ts";
import type { RequestState } from "./state.ts";

export interface MountOptions extends AdmitOptions {
  idempotency: Idempotency;
  newId: NewId;
  bodyTimeoutMs: number;
  /** Largest file, in bytes. */
  maxFileBytes: number;
}

type Ctx = Context & { state: RequestState; params: Record<string, string> };

/** A router over the endpoints. Each runs the checks in the order that interface.md gives: key, surface, body, work. */
export function mount(endpoints: readonly Endpoint[], options: MountOptions): Router<RequestState> {
  const router = new Router<RequestState>({ sensitive: true, strict: true });
  for (const endpoint of endpoints) router.register(endpoint.path, [endpoint.method], handlerOf(endpoint, options));
  const contract = jsonAnswer(200, openApi(endpoints));
  router.get("/openapi.json", (ctx) => {
    ctx.state.endpointName = "openapi";
    send(ctx, { ...contract, headers: { ...contract.headers, "Cache-Control": "public, max-age=300" } });
  });
  return router;
}

function handlerOf(endpoint: Endpoint, options: MountOptions): Middleware<RequestState> {
  const readQuery = queryReader(endpoint);
  const readBody = bodyReader(endpoint, options);
  return async (context) => {
    const ctx = context as Ctx;
    ctx.state.endpointName = endpoint.name;
    const caller = await admit(ctx, endpoint.surface, options);
    const query = readQuery(ctx.querystring);
    const read = await readBody(ctx.req, caller, ctx.params);
    send(ctx, await answer(ctx, caller, endpoint, query, read, options));
  };
}

/** The work itself; for a POST with an Idempotency-Key once, however often it is asked for. */
async function answer(
  ctx: Ctx,
  caller: Caller,
  endpoint: Endpoint,
  query: unknown,
  { body, file, fingerprint }: ReadBody,
  { idempotency, newId }: MountOptions,
): Promise<JsonAnswer | BinaryAnswer> {
  let used = false;
  const header = (name: string) => ctx.get(name) || undefined;
  const inputWith = (id: NewId) => ({ caller, params: ctx.params, query, body, file, newId: id, precondition: ifMatch(header("if-match")), header });
  const work = async (id: NewId): Promise<JsonAnswer | BinaryAnswer> => {
    const input = inputWith(id);
    used = true; // from here on the file is the handler's: only it knows whether a record may have come to name it
    const result = await endpoint.handle(input);
    return result instanceof BinaryAnswer ? result : jsonAnswer(endpoint.status, result, { location: endpoint.location?.(result), moving: endpoint.moving });
  };
  try {
    const key = endpoint.method === "POST" ? idempotencyKey(ctx) : undefined;
    if (endpoint.dryRun !== undefined && isDryRun(query)) return jsonAnswer(200, await endpoint.dryRun.handle(inputWith(newId)));
    if (key === undefined) return await work(newId);
    const request = { account: caller.accountId, key, fingerprint: `${ctx.method} ${ctx.path}?${ctx.querystring}\n${fingerprint}` };
    const { answer, replayed } = await idempotency.once(request, work);
    if (replayed) ctx.set("Idempotent-Replayed", "true");
    return answer;
  } finally {
    if (file !== undefined && !used) await endpoint.upload?.discard(file);
  }
}

function isDryRun(query: unknown): boolean {
  return (query as { dry_run?: boolean }).dry_run === true;
}

/**
 * The header as it was sent, an empty one included: a client that meant to be protected must not be let go without, and one
 * that rehearses must meet what the real request would. @throws problem malformed_request
 */
function idempotencyKey({ req }: Ctx): string | undefined {
  const given = req.headers["idempotency-key"];
  const field = Array.isArray(given) ? given.join(", ") : given;
  if (field !== undefined) keyOf(field);
  return field;
}
