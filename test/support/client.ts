import { expect } from "chai";
import type { Candidate } from "../../src/candidates/schema.ts";
import type { Decided } from "../../src/candidates/history-schema.ts";
import type { BulkResult } from "../../src/candidates/bulk-schema.ts";
import type { Fault } from "../../src/problems.ts";
import type { Exchange } from "./contract.ts";

/** A response. `body` is parsed if it is JSON; otherwise it is `{ text }`. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

/** Any body that the API answers with. A real body has only some of these members; reading another gives undefined. */
export interface Body extends Omit<Candidate, "object" | "state"> {
  object: string;
  state: string;
  data: Candidate[];
  has_more: boolean;
  cursor: string;
  type: string;
  title: string;
  status: number;
  detail: string;
  code: string;
  request_id: string;
  errors: Fault[];
  candidate_id: string;
  scope: string;
  retry_after: number;
  reason: string;
  "violated-policies": string[];
  allowed: string[];
  received_at: string | null;
  url: string;
  enabled: boolean;
  secret: string;
  disabled_reason: string | null;
  disabled_at: string | null;
  last_delivery: { at: string; status: number | null; error: string | null } | null;
  decided: Decided | null;
  created: number;
  updated: number;
  unchanged: number;
  failed: number;
  results: BulkResult[];
  outcome: string;
  would_create: Candidate;
  /** The whole body, if it is not JSON. */
  text: string;
}

export interface RequestOptions {
  headers?: Record<string, string>;
  /** Sent as JSON. */
  json?: unknown;
  /** Sent unchanged. */
  body?: string | Uint8Array | ReadableStream;
}

/** Expects that a document or reference cannot be moved to this state, and that the whole change is refused. */
export async function expectClosed(
  client: Client,
  path: string,
  { from, to, allowed }: { from: string; to: string; allowed: readonly string[] },
): Promise<void> {
  const { name } = (await client.get(path)).body;
  const refused = expectProblem(await client.patch(path, { state: to, name: "kept out" }), 409, "invalid_transition");
  expect(refused).to.include({ from, to });
  expect(refused.allowed).to.have.members([...allowed]);
  expect((await client.get(path)).body).to.include({ state: from, name });
}

/** Sends requests to the service with one key. */
export class Client {
  readonly url: string;
  readonly key: string;
  readonly #check: (exchange: Exchange) => void;

  /** @param check is called with every answer: `expectInContract`, unless it comes from another version. */
  constructor(url: string, key: string, check: (exchange: Exchange) => void = () => undefined) {
    this.url = url;
    this.key = key;
    this.#check = check;
  }

  async request(method: string, path: string, { headers = {}, json, body }: RequestOptions = {}): Promise<Answer> {
    const type: Record<string, string> = json === undefined ? {} : { "Content-Type": "application/json" };
    const sent = json === undefined ? body : JSON.stringify(json);
    const response = await fetch(this.url + path, {
      method,
      headers: { Authorization: `Bearer ${this.key}`, ...type, ...headers },
      ...(sent === undefined ? {} : { body: sent, duplex: "half" }),
    });
    const text = await response.text();
    const isJson = /json/.test(response.headers.get("content-type") ?? "");
    const answer = { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : { text } };
    this.#check({ method, path, ...answer });
    return answer;
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.request("GET", path, { headers });
  }

  post(path: string, json: unknown = {}, headers: Record<string, string> = {}): Promise<Answer> {
    return this.request("POST", path, { json, headers });
  }

  patch(path: string, json: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    return this.request("PATCH", path, { json, headers });
  }
}

/** Expects a complete problem+json of this status and code, with every member that interface.md promises. */
export function expectProblem(answer: Answer, status: number, code: string): Body {
  expect(answer.body).to.include({ status, code });
  expect(answer.status).to.equal(status);
  expect(answer.headers.get("content-type")).to.equal("application/problem+json");
  expect(answer.body).to.include.keys("type", "title", "detail", "request_id");
  expect(answer.body.request_id).to.equal(answer.headers.get("x-request-id"));
  return answer.body;
}
