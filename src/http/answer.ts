import type { Readable } from "node:stream";
import type { Context } from "koa";
import { RenderedJson } from "../infra/rendered-json.ts";
import { viewTag } from "./entity-tags.ts";
import { jsonText } from "./json-text.ts";

/** A JSON answer, ready to be sent or to be stored for replays. */
export interface JsonAnswer {
  readonly status: number;
  readonly headers: Record<string, string>;
  /** JSON in UTF-8. */
  readonly body: Buffer;
}

/** An answer that is not JSON: bytes, or nothing at all. */
export class BinaryAnswer {
  readonly status: 200 | 204 | 206 | 304;
  readonly headers: Record<string, string>;
  /** Undefined for 204 and 304. */
  readonly body: Readable | undefined;

  constructor(status: 200 | 204 | 206 | 304, headers: Record<string, string>, body?: Readable) {
    this.status = status;
    this.headers = headers;
    this.body = body;
  }
}

/**
 * Creates a JSON answer with its ETag. Shared caches must not store it: it may contain personal data.
 * @param volatile members that change by the clock alone.
 */
export async function jsonAnswer(
  status: number,
  value: unknown,
  { location, volatile }: { location?: string | undefined; volatile?: readonly string[] | undefined } = {},
): Promise<JsonAnswer> {
  const { bytes, tag } = value instanceof RenderedJson ? { bytes: value.body, tag: value.tag } : await jsonText(value);
  const headers = {
    ETag: volatile === undefined ? tag : viewTag(value, volatile),
    "Cache-Control": "private, no-cache",
    "Content-Type": "application/json",
  };
  return {
    status,
    headers: location === undefined ? headers : { ...headers, Location: location },
    body: bytes,
  };
}

/**
 * Sends an answer. Answers a GET with 304 if the client already has this JSON.
 * @param clientHas tells whether the client has the representation with a tag (`ifNoneMatch`).
 */
export function send(ctx: Context, answer: JsonAnswer | BinaryAnswer, clientHas: (tag: string) => boolean): void {
  ctx.status = answer.status;
  ctx.set(answer.headers);
  if (answer instanceof BinaryAnswer) {
    ctx.body = answer.body ?? null;
    if (answer.body === undefined)
      ctx.status = answer.status; // Koa changes the status of an empty body to 204
    else ctx.set(answer.headers); // Koa gives streams a default type; keep the answer's own
    return;
  }
  ctx.body = answer.body;
  ctx.set("Content-Type", "application/json");
  if (ctx.method === "GET" && clientHas(answer.headers.ETag ?? "")) ctx.status = 304;
}
