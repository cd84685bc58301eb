import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { request } from "undici";
import { expectInContract } from "../support/contract.ts";

const DECODE = { br: brotliDecompressSync, gzip: gunzipSync, identity: (bytes: Uint8Array) => Buffer.from(bytes) };
export type Coding = keyof typeof DECODE;

export interface Received {
  readonly status: number;
  readonly headers: Headers;
  readonly coding: Coding;
  readonly tag: string;
  /** As they travelled. */
  readonly bytes: Buffer;
  readonly text: string;
}

export type Send = (
  method: "GET" | "HEAD" | "POST" | "PATCH",
  path: string,
  options?: Record<string, string | undefined> & { json?: string },
) => Promise<Received>;

/**
 * Returns a function that sends a request as it is: without an Accept-Encoding of its own, and without decoding the
 * response. It expects the response to be in the contract. Its options are headers, and `json`.
 */
export function rawSender(service: { url: string }, account: { key: string }): Send {
  return async (method, path, { json, ...headers } = {}) => {
    const type = json === undefined ? {} : { "Content-Type": "application/json" };
    const response = await request(service.url + path, {
      method,
      headers: { Authorization: `Bearer ${account.key}`, ...type, ...headers },
      body: json ?? null,
    });
    const bytes = Buffer.from(await response.body.arrayBuffer());
    const received = new Headers(response.headers as Record<string, string>);
    const coding = (received.get("content-encoding") ?? "identity") as Coding;
    const text = bytes.length === 0 ? "" : DECODE[coding](bytes).toString();
    const isJson = /json/.test(received.get("content-type") ?? "") && text !== "";
    const status = response.statusCode;
    expectInContract({ method, path, status, headers: received, body: isJson ? JSON.parse(text) : { text } });
    return { status, headers: received, coding, tag: received.get("etag") ?? "", bytes, text };
  };
}

/** Accepts this coding alone. */
export function inCoding(coding: Coding) {
  return { "Accept-Encoding": coding };
}
