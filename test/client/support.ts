import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import {
  type Candidate,
  type CandidateInput,
  type ClientOptions,
  OnboardingClient,
  type SyncOptions,
} from "../../src/client/index.ts";
import { useStarted } from "../support/use-started.ts";

/** One request that the client sent, as its `fetch` saw it. Times are `performance.now()` in milliseconds. */
export interface Sent {
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly at: number;
  /** When its answer came, and the Retry-After of a 429, in seconds. */
  answered?: { readonly status: number; readonly at: number; readonly retryAfter: number };
}

/** Returns a client and the list of all requests that it sends. */
export function recorded(options: ClientOptions): { client: OnboardingClient; sent: Sent[] } {
  const sent: Sent[] = [];
  const client = new OnboardingClient({
    ...options,
    async fetch(url, init) {
      const { method = "GET", headers = {} } = init;
      const request: Sent = { method, url, headers: headers as Record<string, string>, at: performance.now() };
      sent.push(request);
      const answer = await (options.fetch ?? fetch)(url, init);
      const retryAfter = answer.status === 429 ? Number(answer.headers.get("retry-after")) : 0;
      request.answered = { status: answer.status, at: performance.now(), retryAfter };
      return answer;
    },
  });
  return { client, sent };
}

/** What tests of `sync` do with the account of the current test. */
export function syncing(service: { readonly url: string }, account: { readonly key: string }) {
  const start = () => recorded({ baseUrl: service.url, apiKey: account.key });
  return {
    /** Runs a sync. @returns its result, and the requests that it sent. */
    run: async (rows: Iterable<CandidateInput>, options: Partial<SyncOptions> = {}) => {
      const { client, sent } = start();
      const result = await client.sync(rows, { key: "external_id", ...options });
      return { result, requests: sent.map(({ method, url }) => `${method} ${new URL(url).pathname}`) };
    },
    /** Returns what a mirror has stored. */
    mirrored: async (): Promise<Map<string, Candidate>> => {
      const copy = new Map<string, Candidate>();
      for await (const row of start().client.mirror()) if (!row.deleted) copy.set(row.id, row);
      return copy;
    },
  };
}

/** Returns how many of these requests were sent after one of them was refused and before its Retry-After ended. */
export function sentTooEarly(sent: readonly Sent[]): number {
  const waits = sent.flatMap(({ answered }) => (answered === undefined || answered.retryAfter === 0 ? [] : [answered]));
  return sent.filter(({ at }) => waits.some((wait) => at > wait.at && at < wait.at + wait.retryAfter * 1000)).length;
}

/** A server that answers as the current test says, for what the service never answers. */
export interface Gateway {
  readonly url: string;
  /** The requests so far. */
  readonly requests: IncomingMessage[];
  answer: (request: IncomingMessage, response: ServerResponse) => void;
  stop(): void;
}

/** Starts a gateway before the tests of the `describe` that calls this, and stops it after them. */
export function useGateway(): Gateway {
  return useStarted("The gateway", startGateway, (gateway) => gateway.stop());
}

async function startGateway(): Promise<Gateway> {
  const server: Server = createServer((request, response) => {
    gateway.requests.push(request);
    gateway.answer(request, response);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const gateway: Gateway = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: [],
    answer: (_, response) => void response.writeHead(204).end(),
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
  return gateway;
}

/** Returns what the promise rejects with. */
export async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error("The promise was expected to reject.");
}
