import type { RespValue } from "./resp.ts";

/** A grant as Redis keeps it: id, remaining, expiry in milliseconds, amount. */
export type GrantRow = [id: string, remaining: number, expiresAtMs: number, amount: number];

export interface ChargeEvent {
  readonly do: "charge";
  readonly account: string;
  readonly key: string;
  readonly surface: string;
  readonly accountLimit: number;
  readonly keyLimit: number;
  readonly windowMs: number;
  readonly cost: number;
  /** As in lua/charge.lua: 0 for none. */
  readonly deadline: number;
  readonly version: number;
  readonly secretEnds: number;
  /** The recorder's clock, when the answer had come. It stands for Redis's clock if the answer is missing. */
  readonly at: number;
  /** The words of the script's answer; null if the connection broke before it came. */
  readonly answer: {
    readonly verdict: string;
    readonly accountRemaining: number;
    readonly keyRemaining: number;
    readonly reset: number;
    readonly grantRemaining: number;
    readonly now: number;
    readonly grantAmount: number;
  } | null;
}

/** One surface of what lua/usage.lua answered. */
export interface UsageRow {
  readonly surface: string;
  readonly accountUsed: number;
  readonly keyUsed: number;
  readonly reset: number;
  readonly grants: readonly GrantRow[];
}

export interface UsageEvent {
  readonly do: "usage";
  readonly account: string;
  readonly key: string;
  readonly windowMs: number;
  readonly version: number;
  readonly secretEnds: number;
  readonly now: number;
  /** The recorder's clock, when the answer had come. */
  readonly at: number;
  /** Empty if the key may be used. */
  readonly refusal: string;
  readonly surfaces: readonly UsageRow[];
}

/** Reads a call of lua/charge.lua. @param answer undefined if the connection broke before it came. */
export function chargeEvent(
  account: string,
  keys: string[][],
  args: string[],
  answer: RespValue | undefined,
): ChargeEvent {
  const [accountLimit = 0, keyLimit = 0, window = 0, cost = 0, deadline = 0, version = 0, secretEnds = 0] = (
    args[0] ?? ""
  )
    .split(" ")
    .map(Number);
  const [surface = "", key = ""] = keys[1] ?? [];
  const given = { accountLimit, keyLimit, windowMs: window * 1000, cost, deadline, version, secretEnds };
  return { do: "charge", account, key, surface, ...given, at: Date.now(), answer: chargeAnswer(answer) };
}

function chargeAnswer(answer: RespValue | undefined): ChargeEvent["answer"] {
  if (answer === undefined) return null;
  const [verdict = "", ...words] = (answer as string).split(" ");
  const [accountRemaining = 0, keyRemaining = 0, reset = 0, grantRemaining = 0, now = 0, grantAmount = 0] =
    words.map(Number);
  return { verdict, accountRemaining, keyRemaining, reset, grantRemaining, now, grantAmount };
}

/** Reads a call of lua/usage.lua. */
export function usageEvent(
  account: string,
  keys: string[][],
  [window, version, secretEnds]: string[],
  answer: RespValue,
): UsageEvent {
  const [now, refusal, rows] = answer as [number, string, [number, number, number, string[]][]];
  const surfaces = rows.map(([accountUsed, keyUsed, reset, grants], index) => {
    const surface = keys[2 + 3 * index]?.[0] ?? "";
    return { surface, accountUsed, keyUsed, reset, grants: grantRows(grants) };
  });
  const given = { windowMs: Number(window) * 1000, version: Number(version), secretEnds: Number(secretEnds) };
  return { do: "usage", account, key: keys[0]?.[1] ?? "", ...given, now, at: Date.now(), refusal, surfaces };
}

function grantRows(fields: readonly string[]): GrantRow[] {
  return Array.from({ length: fields.length / 2 }, (_, index) => {
    const [remaining = 0, expiresAtMs = 0, amount = 0] = (fields[2 * index + 1] ?? "").split(":").map(Number);
    return [fields[2 * index] ?? "", remaining, expiresAtMs, amount];
  });
}
