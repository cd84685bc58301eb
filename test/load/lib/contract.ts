import type { HttpAnswer, Verdict } from "./host.ts";

/** What RateLimit-Policy and RateLimit state for one surface and the key of the request. */
export interface Stated {
  readonly surface: string;
  readonly windowSeconds: number;
  /** Whole seconds until the window ends, rounded up. */
  readonly reset: number;
  readonly account: Level;
  readonly key: Level;
}

interface Level {
  readonly limit: number;
  readonly remaining: number;
}

const POLICY = /^"account-(\w+)";q=(\d+);w=(\d+), "key-\1";q=(\d+);w=\3(, |$)/;
const REMAINING = /^"account-(\w+)";r=(\d+);t=(\d+), "key-\1";r=(\d+);t=\3(, |$)/;

/** Reads both headers in the form that the service sends. Returns undefined if they are absent or incomplete. */
export function readStated(headers: HttpAnswer["headers"]): Stated | undefined {
  const policy = POLICY.exec(headers["ratelimit-policy"] ?? "");
  const now = REMAINING.exec(headers["ratelimit"] ?? "");
  if (policy === null || now === null || policy[1] !== now[1]) return undefined;
  return {
    surface: policy[1] ?? "",
    windowSeconds: Number(policy[3]),
    reset: Number(now[3]),
    account: { limit: Number(policy[2]), remaining: Number(now[2]) },
    key: { limit: Number(policy[4]), remaining: Number(now[4]) },
  };
}

/** Checks what the contract demands of every answer, in every scenario. @returns the first fault, in words. */
export function faultOf(answer: HttpAnswer, verdict: Verdict, expects: readonly number[]): string | undefined {
  const { status, headers } = answer;
  if (status === 0) return `no answer: ${answer.body}`;
  if (verdict === "unknown") return `${status} ${codeOf(answer)}: it may or may not have counted`;
  const refused = verdict === "account" || verdict === "key";
  if (!refused && !expects.includes(status)) return `status ${status} ${codeOf(answer)}`;
  if (headers["x-request-id"] === undefined) return "no X-Request-Id";
  if (verdict === "free" || verdict === "rejected") return undefined;
  const stated = readStated(headers);
  if (stated === undefined) return "no complete RateLimit-Policy and RateLimit";
  return refused ? faultOfRefusal(answer, verdict, stated) : undefined;
}

/** Checks a 429 of the account's limit or of the key's. */
function faultOfRefusal({ headers, body }: HttpAnswer, verdict: "account" | "key", stated: Stated): string | undefined {
  if (headers["content-type"] !== "application/problem+json") return "429 that is not application/problem+json";
  const delay = Number(headers["retry-after"] ?? NaN) - stated.reset;
  // A key may be asked to come back a little later than the window ends: see src/docs/guides/limits.md.
  if (!(delay >= 0 && delay <= stated.windowSeconds / 120))
    return "429 whose Retry-After is not the t of RateLimit or up to 1/120 of the window more";
  const violated = JSON.stringify([`${verdict}-${stated.surface}`]);
  if (JSON.stringify(jsonOf(body)["violated-policies"]) !== violated)
    return `429 whose violated-policies is not ${violated}`;
  if (stated[verdict].remaining !== 0) return `refused by the ${verdict}, which had ${stated[verdict].remaining} left`;
  return undefined;
}

/** Decides from an answer alone what the limiter did with the request. */
export function verdictOf({ status, headers, body }: HttpAnswer, charged: boolean): Verdict {
  if (!charged) return status === 0 ? "unknown" : "free";
  if (status === 503 && jsonOf(body)["code"] === "limiter_unavailable") return "unknown";
  if (status === 429) return refusedBy(jsonOf(body)["scope"]);
  if (status !== 0 && (status < 400 || headers["ratelimit"] !== undefined)) return "admitted";
  if (status === 0 || status >= 500) return "unknown";
  return "rejected";
}

/** An address that sends too many wrong keys is refused before its request reaches a limit. */
function refusedBy(scope: unknown): Verdict {
  if (scope === "account" || scope === "key") return scope;
  return scope === "address" ? "rejected" : "unknown";
}

/** The members of a JSON object. Empty if the text is something else. */
export function jsonOf(text: string): Readonly<Record<string, unknown>> {
  try {
    return (JSON.parse(text) ?? {}) as Record<string, unknown>;
  } catch {
    return {};
  }
}

/** A member of a JSON object that is text. Empty if there is none. */
export function textOf(body: string, member: string): string {
  const value = jsonOf(body)[member];
  return typeof value === "string" ? value : "";
}

function codeOf({ body }: HttpAnswer): string {
  return textOf(body, "code");
}
