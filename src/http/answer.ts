import { Readable } from "node:stream";
import type { Context } from "koa";
import { RenderedJson } from "../infra/rendered-json.ts";
import { keptTag, viewTag } from "./entity-tags.ts";
import { jsonText } from "./json-text.ts";
import { type CodedForms, sendText } from "./send-text.ts";

/** A JSON answer, ready to be sent or to be stored for replays. */
export interface JsonAnswer {
  readonly status: number;
  readonly headers: Record<string, string>;
  /** JSON, in UTF-8 if it is bytes. It is never stored compressed: each client gets it in the coding that it accepts. */
  readonly body: Buffer | string;
}

/** An answer that a handler makes itself: bytes, or nothing at all. JSON in a Buffer is compressed, all else is not. */
export class BinaryAnswer {
  readonly status: 200 | 204 | 206 | 304;
  readonly headers: Record<string, string>;
  /** Undefined for 204 and 304. */
  readonly body: Readable | Buffer | undefined;

  constructor(status: 200 | 204 | 206 | 304, headers: Record<string, string>, body?: Readable | Buffer) {
    this.status = status;
    this.headers = headers;
    this.body = body;
  }
}

interface AnswerOptions {
  readonly location?: string | undefined;
  /** Members that change by the clock alone. */
  readonly volatile?: readonly string[] | undefined;
  /** The last member, if the ETag does not cover it. */
  readonly untagged?: string | undefined;
}

/** Creates a JSON answer with its ETag. Shared caches must not store it: it may contain personal data. */
export async function jsonAnswer(
  status: number,
  value: unknown,
  { location, volatile, untagged }: AnswerOptions = {},
): Promise<JsonAnswer> {
  const text = value instanceof RenderedJson ? value : jsonText(value, untagged);
  const { body, tag } = text instanceof Promise ? await text : text;
  const headers = {
    ETag: volatile === undefined ? tag : viewTag(value, volatile),
    "Cache-Control": "private, no-cache",
    "Content-Type": "application/json",
  };
  return {
    status,
    headers: location === undefined ? headers : { ...headers, Location: location },
    body,
  };
}

/**
 * Sends an answer. Answers a GET with 304 if the client already has this JSON.
 * @param forms keeps the compressed forms of a JSON answer that is sent again and again.
 * @returns a promise if the answer is compressed.
 */
export function send(ctx: Context, answer: JsonAnswer | BinaryAnswer, forms?: CodedForms): Promise<void> | undefined {
  const { status, headers, body } = answer;
  for (const name in headers) ctx.res.setHeader(name, headers[name]!);
  ctx.status = status;
  if (body instanceof Readable || headers["Content-Type"] !== "application/json") {
    ctx.body = body ?? null;
    ctx.status = status; // Koa changes the status of an empty body to 204
    return undefined;
  }
  if (!("Vary" in headers)) ctx.res.setHeader("Vary", "Accept-Encoding");
  const tag = headers["ETag"]!; // jsonAnswer gives every JSON answer one
  const kept = ctx.method === "GET" || ctx.method === "HEAD" ? keptTag(ctx.req.headers, tag) : undefined;
  if (body !== undefined && kept === undefined) return sendText(ctx, body, { tag, forms });
  ctx.res.setHeader("ETag", kept ?? tag);
  ctx.status = 304;
  return undefined;
}
