import { setMaxListeners } from "node:events";
import { setTimeout } from "node:timers/promises";
import { Agent } from "undici";
import type { Host, HttpAnswer, HttpRequest, Outcome } from "../lib/host.ts";

/** Time that requests in flight have to end after the run was stopped. */
const GRACE_MS = 2_000;
const ANSWER_TIMEOUT_MS = 30_000;

export interface NodeHost extends Host {
  close(): Promise<void>;
}

/** Runs scenarios in Node, over up to `connections` kept-alive connections. */
export function createHost(
  { connections, stopping }: { connections: number; stopping: AbortSignal },
  { say, seen }: { say: (line: string) => void; seen: (outcome: Outcome) => void },
): NodeHost {
  const agent = new Agent({ connections, bodyTimeout: ANSWER_TIMEOUT_MS, headersTimeout: ANSWER_TIMEOUT_MS });
  const cutOff = new AbortController();
  setMaxListeners(0, stopping, cutOff.signal); // each request and each wait listens
  stopping.addEventListener(
    "abort",
    () => void setTimeout(GRACE_MS, undefined, { ref: false }).then(() => cutOff.abort()),
  );
  return {
    say,
    seen,
    stopped: () => stopping.aborted,
    sleep: (ms) =>
      ms <= 0 ? Promise.resolve() : setTimeout(ms, undefined, { signal: stopping }).catch(() => undefined),
    exchange: (request) => exchange(agent, request, cutOff.signal),
    close: () => agent.destroy(),
  };
}

async function exchange(agent: Agent, request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer> {
  const sentAt = performance.now();
  const { origin, pathname, search } = new URL(request.url);
  try {
    const response = await agent.request({
      origin,
      path: pathname + search,
      method: request.method,
      headers: request.headers,
      body: request.body ?? null,
      signal,
    });
    const body = await response.body.text();
    const headers = Object.fromEntries(
      Object.entries(response.headers).map(([name, value]) => [
        name,
        Array.isArray(value) ? value.join(", ") : (value ?? ""),
      ]),
    );
    return { status: response.statusCode, headers, body, ms: performance.now() - sentAt };
  } catch (error) {
    return {
      status: 0,
      headers: {},
      body: error instanceof Error ? error.message : String(error),
      ms: performance.now() - sentAt,
    };
  }
}
