import { loadScript, type Script } from "../../src/infra/scripts.ts";
import { SURFACES } from "../../src/limiter/surfaces.ts";
import { type ChargeEvent, chargeEvent, type UsageEvent, usageEvent } from "./limiter-calls.ts";
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

export interface MarkEvent {
  readonly do: "mark";
  readonly account: string;
  readonly key: string;
  /** "revoked", or the version of the account's record that rotated the key. */
  readonly marker: string;
  /** Whether Redis did it; null if the connection broke before the answer came. */
  readonly done: boolean | null;
}

/** One thing that was done to the limiter's keys of an account. */
export type LimiterEvent =
  | ChargeEvent
  | UsageEvent
  | (GrantEvent<"put"> & { readonly amount: number; readonly expiresAtMs: number })
  | (GrantEvent<"fill"> & { readonly amount: number })
  | GrantEvent<"remove">
  | MarkEvent
  | {
      readonly do: "status";
      readonly account: string;
      readonly status: string;
      /** The version of the account's record that has this status. */
      readonly version: number;
      readonly done: boolean | null;
    }
  /** A test set a counter, for example to that of the next window, as it is after the clock stepped back. */
  | {
      readonly do: "counter";
      readonly account: string;
      readonly surface: string;
      /** null for the account's counter. */
      readonly key: string | null;
      readonly window: number;
      readonly used: number;
    }
  /** A test changed the keys in a way that the service never does. What follows is not checked. */
  | { readonly do: "other"; readonly account: string; readonly command: string }
  /** All data of Redis was removed. */
  | { readonly do: "flush"; readonly account: "*" };

const SURFACE_NAMES: readonly string[] = SURFACES;
const CHARGE = loadScript("charge.lua");
const USAGE = loadScript("usage.lua");
const FILL = loadScript("fill-grant.lua");
const MARK_KEY = loadScript("mark-key.lua");
const MARK_ACCOUNT = loadScript("mark-account.lua");

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
  if (first === undefined || HARMLESS.test(name)) return [];
  if (name === "PEXPIREAT" && first.name[0] === "grants") return []; // the end of the last grant: none is lost by it
  if (isScript(command, USAGE) && answer === undefined) return []; // reading changes nothing
  // MSET is the same as a SET for each of its keys.
  const sets = command
    .slice(1)
    .flatMap((key, index, all) => (index % 2 === 0 ? [["SET", key, all[index + 1] ?? ""]] : []));
  const single = name === "MSET" ? sets : [command];
  const events = single.map((each) => known(each[0]!.toUpperCase(), each, keysOf(each)[0] ?? first, answer));
  return events.map((event) => event ?? { do: "other", account: first.account, command: command.join(" ") });
}

interface LimiterKey {
  readonly account: string;
  /** What follows the account: see src/limiter/redis-keys.ts. */
  readonly name: readonly string[];
}

function keysOf(command: readonly string[]): LimiterKey[] {
  return command.slice(1).flatMap((argument) => {
    const [, account, name] = KEY.exec(argument) ?? [];
    return account === undefined || name === undefined ? [] : [{ account, name: name.split(":") }];
  });
}

function known(
  name: string,
  command: readonly string[],
  { account, name: [what, key, on] }: LimiterKey,
  answer: RespValue | undefined,
): LimiterEvent | undefined {
  if (name === "EVAL" || name === "EVALSHA") return scriptEvent(command, account, answer);
  if (name === "SET" && SURFACE_NAMES.includes(what ?? "")) return counterEvent(account, what, key, command[2] ?? "");
  if (what !== "grants" || key === undefined) return undefined;
  const place = { account, key, surface: on ?? "create", id: command[2] ?? "", done: asBoolean(answer) };
  if (name === "HSETNX") {
    const [amount = 0, expiresAtMs = 0] = (command[3] ?? "").split(":").map(Number);
    return { do: "put", ...place, amount, expiresAtMs };
  }
  return name === "HDEL" ? { do: "remove", ...place } : undefined;
}

function counterEvent(account: string, surface = "", key: string | undefined, value: string): LimiterEvent | undefined {
  const [, window, used] = /^(\d+):(\d+)$/.exec(value) ?? [];
  if (window === undefined) return undefined;
  return { do: "counter", account, surface, key: key ?? null, window: Number(window), used: Number(used) };
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
  const keys = rest.slice(0, Number(count)).map((key) => key.replace(/^\{.*\}:/, "").split(":"));
  const args = rest.slice(Number(count));
  if (isScript(command, CHARGE)) return chargeEvent(account, keys, args, answer);
  if (isScript(command, USAGE)) return usageEvent(account, keys, args, answer!);
  const done = asBoolean(answer);
  const [, key = "", surface = "create"] = keys[0] ?? [];
  if (isScript(command, MARK_KEY)) return { do: "mark", account, key, marker: args[0] ?? "", done };
  if (isScript(command, MARK_ACCOUNT))
    return { do: "status", account, status: args[0] ?? "", version: Number(args[1]), done };
  if (!isScript(command, FILL)) return undefined;
  const [id = "", amount] = args;
  return { do: "fill", account, key, surface, id, amount: Number(amount), done };
}

function asBoolean(answer: RespValue | undefined): boolean | null {
  return answer === undefined ? null : answer === 1;
}
