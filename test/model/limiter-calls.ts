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
  /** null if it was not to be checked. */
  readonly version: number | null;
  readonly secretEnds: number;
  /** The recorder's clock, when the answer had come. It stands for Redis's clock if the answer is missing. */
  readonly at: number;
  /** The words of the script's answer; null if the connection broke before it came. */
  readonly answer: {
    readonly verdict: string;
    readonly accountUsed: number;
    readonly keyUsed: number;
    readonly window: number;
    readonly now: number;
  } | null;
}

export interface DrawEvent {
  readonly do: "draw";
  readonly account: string;
  readonly key: string;
  readonly surface: string;
  readonly cost: number;
  /** As in lua/draw-grant.lua: 0 for none. */
  readonly deadline: number;
  /** The recorder's clock, when the answer had come. It stands for Redis's clock if the answer is missing. */
  readonly at: number;
  /** The words of the script's answer; null if the connection broke before it came. */
  readonly answer: {
    readonly outcome: string;
    readonly grantRemaining: number;
    readonly grantAmount: number;
    readonly now: number;
  } | null;
}

/** One surface of what lua/usage.lua answered. */
export interface UsageRow {
  readonly surface: string;
  readonly accountUsed: number;
  readonly keyUsed: number;
}

export interface UsageEvent {
  readonly do: "usage";
  readonly account: string;
  readonly key: string;
  readonly windowMs: number;
  /** null if it was not to be checked. */
  readonly version: number | null;
  readonly secretEnds: number;
  readonly now: number;
  /** The recorder's clock, when the answer had come. */
  readonly at: number;
  /** Empty if the key may be used. */
  readonly refusal: string;
  /** Milliseconds to the window's end. */
  readonly reset: number;
  readonly surfaces: readonly UsageRow[];
}

/** Reads a call of lua/charge.lua. @param answer undefined if the connection broke before it came. */
export function chargeEvent(account: string, args: string[], answer: RespValue | undefined): ChargeEvent {
  const [window, version, , field = "", ...numbers] = args;
  const [surface = "", key = ""] = field.split(":");
  const [accountLimit = 0, keyLimit = 0, deadline = 0, secretEnds = 0, cost = 1] = numbers.map(Number);
  const claim = claimOf(window, version, secretEnds);
  const given = { accountLimit, keyLimit, cost, deadline, ...claim };
  return { do: "charge", account, key, surface, ...given, at: Date.now(), answer: chargeAnswer(answer, cost) };
}

function chargeAnswer(answer: RespValue | undefined, cost: number): ChargeEvent["answer"] {
  if (answer === undefined) return null;
  const [verdict = "", ...words] = (answer as string).split(" ");
  const [accountBefore = 0, keyBefore = 0, window = 0, seconds = 0, micros = 0] = words.map(Number);
  const now = seconds * 1000 + Math.floor(micros / 1000);
  const charged = verdict === "admitted" ? cost : 0;
  const [accountUsed, keyUsed] = [accountBefore + charged, keyBefore + charged];
  return { verdict, accountUsed, keyUsed, window, now };
}

/** Reads the answer of lua/draw-grant.lua. @param answer undefined if the connection broke before it came. */
export function drawAnswer(answer: RespValue | undefined): DrawEvent["answer"] {
  if (answer === undefined) return null;
  const [outcome = "", ...words] = (answer as string).split(" ");
  const [grantRemaining = 0, grantAmount = 0, seconds = 0, micros = 0] = words.map(Number);
  return { outcome, grantRemaining, grantAmount, now: seconds * 1000 + Math.floor(micros / 1000) };
}

/** Reads a call of lua/usage.lua. */
export function usageEvent(account: string, args: string[], answer: RespValue): UsageEvent {
  const [now, refusal, reset, used] = answer as [number, string, number, number[]];
  const fields = args.slice(3);
  const surfaces = Array.from({ length: used.length / 2 }, (_, index) => ({
    surface: fields[2 * index] ?? "",
    accountUsed: used[2 * index] ?? 0,
    keyUsed: used[2 * index + 1] ?? 0,
  }));
  const key = (fields[1] ?? "").split(":")[1] ?? "";
  const claim = claimOf(args[0], args[1], Number(args[2]));
  return { do: "usage", account, key, ...claim, now, at: Date.now(), refusal, reset, surfaces };
}

/** The arguments that both scripts have. */
function claimOf(window: string | undefined, version: string | undefined, secretEnds: number) {
  return { windowMs: Number(window) * 1000, version: version === "" ? null : Number(version), secretEnds };
}

/** Reads what HGETALL answers about grants. */
export function grantRows(fields: readonly string[]): GrantRow[] {
  return Array.from({ length: fields.length / 2 }, (_, index) => {
    const [remaining = 0, expiresAtMs = 0, amount = 0] = (fields[2 * index + 1] ?? "").split(":").map(Number);
    return [fields[2 * index] ?? "", remaining, expiresAtMs, amount];
  });
}
