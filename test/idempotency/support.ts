import { randomUUID } from "node:crypto";
import type { TestAccount } from "../support/service.ts";

/** An answer byte for byte. */
export interface RawAnswer {
  readonly status: number;
  /** All but those that are each response's own: the request's id, the date, what is left of the limits. */
  readonly headers: Record<string, string>;
  readonly replayed: string | undefined;
  readonly remaining: number;
  readonly text: string;
}

const OWN = ["x-request-id", "date", "ratelimit", "idempotent-replayed", "content-length"];

/** A key that no test has used. */
export function newKey(): string {
  return randomUUID();
}

/** POSTs a JSON body with an Idempotency-Key, and reads the answer as it came. */
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
    headers: Object.fromEntries([...headers].filter(([name]) => !OWN.includes(name))),
    replayed: headers.get("idempotent-replayed") ?? undefined,
    remaining: Number(/r=(\d+)/.exec(headers.get("ratelimit") ?? "")?.[1]),
    text: await response.text(),
  };
}
