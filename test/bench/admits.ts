import type { Bench, BenchAccount } from "./bench.ts";
import type { Target } from "./alternate.ts";
import { requestText } from "./load.ts";

/** The limits of the check: of the account, and of each of its keys. Each key sends CALLS requests at once. */
export const ACCOUNT_LIMIT = 10;
export const KEY_LIMIT = 5;
export const CALLS = 20;

/** What a limiter did with the calls of one key, and then of another key of the same account. */
export interface Admitted {
  readonly first: number;
  readonly second: number;
  /** The header Retry-After of a refusal; null without one. */
  readonly retryAfter: string | null;
}

/** Sends the calls. The target must have ACCOUNT_LIMIT and KEY_LIMIT. Its limits are used up afterwards. */
export async function callsAdmitted(
  { generator }: Pick<Bench, "generator">,
  { port }: Pick<Target, "port">,
  account: BenchAccount,
): Promise<Admitted> {
  const admittedOf = (request: string) =>
    generator.connected(port, CALLS, async (load) => {
      const { statuses } = await load({ requests: [request], seconds: 10, count: CALLS });
      return statuses["200"] ?? 0;
    });
  const first = await admittedOf(nothingOf(account, 0));
  const second = await admittedOf(nothingOf(account, 1));
  const refusal = await fetch(`http://127.0.0.1:${port}/nothing`, { headers: headersOf(account, 0) });
  return { first, second, retryAfter: refusal.headers.get("retry-after") };
}

/**
 * Returns what is wrong with a limiter that admitted these calls; undefined if nothing is. One that admits more than a limit
 * loses, however fast it is. So does one that refuses what a fresh key may send.
 */
export function wrongWith({ first, second }: Pick<Admitted, "first" | "second">): string | undefined {
  if (first > KEY_LIMIT) return `it admits ${first} requests of a key that may send ${KEY_LIMIT}`;
  if (first + second > ACCOUNT_LIMIT)
    return `it admits ${first + second} requests of an account that may send ${ACCOUNT_LIMIT}`;
  if (first < KEY_LIMIT) return `it admits ${first} requests of a fresh key that may send ${KEY_LIMIT}`;
  return undefined;
}

/** Returns what the calls show that a limiter does not promise, though it never admits too much. */
export function notPromised({ first, second, retryAfter }: Admitted): string[] {
  const seconds = Number(retryAfter);
  return [
    ...(first + second < ACCOUNT_LIMIT
      ? [`refused calls of one key use up the account: the second key got ${second} of ${KEY_LIMIT}`]
      : []),
    ...(retryAfter === null ? ["a refusal does not say when to come back"] : []),
    ...(retryAfter !== null && !(seconds >= 0 && seconds <= 86_400 + 720) ? [`Retry-After is ${retryAfter}`] : []),
  ];
}

export function nothingOf(account: BenchAccount, key: number): string {
  return requestText("GET", "/nothing", headersOf(account, key));
}

function headersOf({ id, keys }: BenchAccount, key: number): Record<string, string> {
  return { Authorization: `Bearer ${keys[key] ?? ""}`, "X-Account": id };
}
