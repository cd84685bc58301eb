import type { Context } from "koa";
import { listsTag, viewTag } from "./entity-tags.ts";
import { BinaryAnswer } from "../api/endpoint.ts";

/** A JSON answer, ready to send or to keep. */
export interface JsonAnswer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/**
 * A JSON representation with its ETag; personal data stays out of shared caches.
 * @param moving members that the clock alone moves.
 */
export function jsonAnswer(
  status: number,
  value: unknown,
  { location, moving }: { location?: string | undefined; moving?: readonly string[] | undefined } = {},
): JsonAnswer {
  const headers = { ETag: viewTag(value, moving), "Cache-Control": "private, no-cache", "Content-Type": "application/json" };
  return { status, headers: location === undefined ? headers : { ...headers, Location: location }, body: JSON.stringify(value) };
}

/** Sends an answer; a GET whose If-None-Match has the ETag already gets 304. */
export function send(ctx: Context, answer: JsonAnswer | BinaryAnswer): void {
  ctx.status = answer.status;
  ctx.set(answer.headers);
  if (answer instanceof BinaryAnswer) {
    ctx.body = answer.body ?? null;
    if (answer.body === undefined) ctx.status = answer.status; // an empty body makes Koa answer 204
    else ctx.set(answer.headers); // and a stream of no declared type makes it name one
    return;
  }
  ctx.body = answer.body;
  ctx.set("Content-Type", "application/json");
  const known = ctx.get("If-None-Match");
  if (ctx.method === "GET" && known !== "" && listsTag(known, [answer.headers.ETag ?? ""], "weak")) ctx.status = 304;
}
