import { randomUUID } from "node:crypto";
import type { TestAccount } from "../support/service.ts";

/** A response whose body is kept byte for byte. */
export interface RawAnswer {
  readonly status: number;
  /** All headers except the per-response ones: request id, date, rate limits, replay mark and length. */
  readonly headers: Record<string, string>;
  readonly replayed: string | undefined;
  readonly remaining: number;
  readonly text: string;
}

const PER_RESPONSE_HEADERS = ["x-request-id", "date", "ratelimit", "idempotent-replayed", "content-length"];

/** Returns an Idempotency-Key that no test has used. */
export function newKey(): string {
  return randomUUID();
}

/** POSTs a JSON body with an Idempotency-Key, and returns the response without parsing it. */
export async function postRaw(
  { client, key }: TestAccount,
  path: string,
  json: unknown,
  idempotencyKey: string,
): Promise<RawAnswer> {
  const response = await fetch(client.url + path, {
    method: "POST",
    headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json", "Idempotency-Key": idempotencyKey },
    body: JSON.stringify(json),
  });
  const { headers } = response;
  return {
    status: response.status,
    headers: Object.fromEntries([...headers].filter(([name]) => !PER_RESPONSE_HEADERS.includes(name))),
    replayed: headers.get("idempotent-replayed") ?? undefined,
    remaining: Number(/r=(\d+)/.exec(headers.get("ratelimit") ?? "")?.[1]),
    text: await response.text(),
  };
}
