import { loadScript, type Script } from "../../src/infra/scripts.ts";
import { SURFACES } from "../../src/limiter/surfaces.ts";
import {
  type ChargeEvent,
  chargeEvent,
  drawAnswer,
  type DrawEvent,
  type GrantRow,
  grantRows,
  type UsageEvent,
  usageEvent,
} from "./limiter-calls.ts";
import type { RespValue } from "./resp.ts";

interface GrantEvent<Do extends string> {
  readonly do: Do;
  readonly account: string;
  readonly key: string;
  readonly surface: string;
  readonly id: string;
  /** Whether Redis did it; null if the connection broke before the answer came. */
  readonly done: boolean | null;
}

export interface VersionEvent {
  readonly do: "version";
  readonly account: string;
  readonly version: number;
  /** As in lua/raise-version.lua: 0 for none. */
  readonly deadline: number;
  readonly over: number;
  /** The version that Redis knew then, 0 if the deadline had passed; null if the connection broke before the answer came. */
  readonly known: number | null;
}

/** The grants of a key for a surface were read. */
export interface ListEvent extends Omit<GrantEvent<"list">, "id" | "done"> {
  readonly rows: readonly GrantRow[];
}

/** A test wrote into a ledger, for example the next window, as it is after the clock stepped back. */
export interface LedgerEvent {
  readonly do: "ledger";
  readonly account: string;
  readonly window: number | null;
  readonly counts: readonly {
    readonly surface: string;
    /** null for the account's count. */
    readonly key: string | null;
    readonly used: number;
  }[];
}

/** One thing that was done to the limiter's keys of an account. */
export type LimiterEvent =
  | ChargeEvent
  | DrawEvent
  | UsageEvent
  | ListEvent
  | (GrantEvent<"put"> & { readonly amount: number; readonly expiresAtMs: number })
  | (GrantEvent<"fill"> & { readonly amount: number })
  | GrantEvent<"remove">
  | VersionEvent
  | LedgerEvent
  /** A test changed the keys in a way that the service never does. What follows is not checked. */
  | { readonly do: "other"; readonly account: string; readonly command: string }
  /** All data of Redis was removed. */
  | { readonly do: "flush"; readonly account: "*" };

const SURFACE_NAMES: readonly string[] = SURFACES;
const CHARGE = loadScript("charge.lua");
const DRAW = loadScript("draw-grant.lua");
const USAGE = loadScript("usage.lua");
const FILL = loadScript("fill-grant.lua");
const RAISE_VERSION = loadScript("raise-version.lua");

/** Commands that change no key, or only when it expires. */
const HARMLESS =
  /^(GET|MGET|EXISTS|TTL|PTTL|TYPE|HGET|HMGET|HGETALL|HLEN|STRLEN|EXPIRETIME|PEXPIRETIME|OBJECT|MEMORY|WATCH|CLUSTER|COMMAND|DEBUG|DUMP)$/;
const KEY = /^\{(acct_[^}]*)\}:(.+)$/;

/** Returns whether a command may change a key of the limiter, or runs one of its scripts. */
export function touchesLimiter(command: readonly string[]): boolean {
  return /^FLUSH(ALL|DB)$/i.test(command[0] ?? "") || keysOf(command).length > 0;
}

/**
 * Returns what a command did to the limiter's keys. Nothing if Redis refused it with an error: then it changed nothing, and the
 * events that follow show whether that is true.
 * @param answer undefined if the connection broke before it came.
 */
export function eventsOf(command: readonly string[], answer: RespValue | undefined): LimiterEvent[] {
  if (answer instanceof Error) return [];
  const name = command[0]?.toUpperCase() ?? "";
  if (/^FLUSH(ALL|DB)$/.test(name)) return [{ do: "flush", account: "*" }];
  const [first] = keysOf(command);
  if (first === undefined) return [];
  const isListing = name === "HGETALL" && first.name[0] === "grants" && answer !== undefined;
  if (HARMLESS.test(name) && !isListing) return [];
  if (name === "PEXPIREAT" && first.name[0] === "grants") return []; // the end of the last grant: none is lost by it
  if (isScript(command, USAGE) && answer === undefined) return []; // reading changes nothing
  const event = known(name, command, first, answer);
  return [event ?? { do: "other", account: first.account, command: command.join(" ") }];
}

interface LimiterKey {
  readonly account: string;
  /** What follows the account: see src/limiter/scripts.ts. */
  readonly name: readonly string[];
}

function keysOf(command: readonly string[]): LimiterKey[] {
  return command.slice(1).flatMap((argument) => {
    const [, account, name] = KEY.exec(argument) ?? [];
    return account === undefined || name === undefined ? [] : [{ account, name: wordsOf(name) }];
  });
}

/** In a ledger the ids of keys have no prefix, so here they have none anywhere. */
function wordsOf(name: string): string[] {
  return name.replace(":key_", ":").split(":");
}

function known(
  name: string,
  command: readonly string[],
  { account, name: [what, key, on] }: LimiterKey,
  answer: RespValue | undefined,
): LimiterEvent | undefined {
  if (name === "EVAL" || name === "EVALSHA") return scriptEvent(command, account, answer);
  if (name === "HSET" && what === "ledger") return ledgerEvent(account, command.slice(2));
  if (what !== "grants" || key === undefined) return undefined;
  const surface = on ?? "create";
  if (name === "HGETALL") return { do: "list", account, key, surface, rows: grantRows(answer as string[]) };
  const place = { account, key, surface, id: command[2] ?? "", done: asBoolean(answer) };
  if (name === "HSETNX") {
    const [amount = 0, expiresAtMs = 0] = (command[3] ?? "").split(":").map(Number);
    return { do: "put", ...place, amount, expiresAtMs };
  }
  return name === "HDEL" ? { do: "remove", ...place } : undefined;
}

function ledgerEvent(account: string, fields: readonly string[]): LedgerEvent | undefined {
  const names = fields.filter((_, index) => index % 2 === 0);
  const values = new Map(names.map((name, index) => [name, Number(fields[2 * index + 1])]));
  if (values.has("version")) return undefined;
  const counts = [...values]
    .filter(([name]) => name !== "window")
    .map(([name, used]) => {
      const [surface = "", key = null] = name.split(":");
      return { surface, key, used };
    });
  if (!counts.every(({ surface }) => SURFACE_NAMES.includes(surface))) return undefined;
  return { do: "ledger", account, window: values.get("window") ?? null, counts };
}

/** EVALSHA names a script by its hash, EVAL by its text. */
function isScript(command: readonly string[], { lua, sha1 }: Script): boolean {
  return command[1] === sha1 || command[1] === lua;
}

function scriptEvent(
  command: readonly string[],
  account: string,
  answer: RespValue | undefined,
): LimiterEvent | undefined {
  const [, , count, ...rest] = command;
  const args = rest.slice(Number(count));
  if (isScript(command, CHARGE)) return chargeEvent(account, args, answer);
  if (isScript(command, USAGE)) return usageEvent(account, args, answer!);
  if (isScript(command, RAISE_VERSION)) {
    const [version = 0, , deadline = 0, over = 0] = args.map(Number);
    const known = answer === undefined ? null : Number(answer);
    return { do: "version", account, version, deadline, over, known };
  }
  const [, key = "", surface = "create"] = wordsOf((rest[0] ?? "").replace(/^\{.*\}:/, ""));
  if (isScript(command, DRAW)) {
    const [cost = 0, deadline = 0] = args.map(Number);
    return { do: "draw", account, key, surface, cost, deadline, at: Date.now(), answer: drawAnswer(answer) };
  }
  if (!isScript(command, FILL)) return undefined;
  const [id = "", amount] = args;
  return { do: "fill", account, key, surface, id, amount: Number(amount), done: asBoolean(answer) };
}

function asBoolean(answer: RespValue | undefined): boolean | null {
  return answer === undefined ? null : answer === 1;
}
