import type { LoadAnswer } from "../../support/load.ts";

/** Sends one request with the key of the account under test. */
export type Send = (method: string, path: string, options?: Sent) => Promise<LoadAnswer>;

export interface Sent {
  readonly body?: string;
  readonly headers?: Record<string, string>;
}

/** One request that is as hard as its endpoint allows. */
export interface Worst {
  readonly what: string;
  /** Makes what the request needs, before the loop is watched, and returns the request. */
  readonly prepare: () => Promise<() => Promise<LoadAnswer>>;
}

export const JSON_TYPE = { "Content-Type": "application/json" };

export function now(what: string, request: () => Promise<LoadAnswer>): Worst {
  return { what, prepare: async () => request };
}

export function json(value: unknown, headers: Record<string, string> = {}): Sent {
  return { body: JSON.stringify(value), headers: { ...JSON_TYPE, ...headers } };
}

export function many<T>(count: number, make: (n: number) => T): T[] {
  return Array.from({ length: count }, (_, n) => make(n));
}
