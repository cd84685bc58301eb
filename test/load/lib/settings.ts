import { isSurface, type Surface, SURFACES } from "../../../src/limiter/surfaces.ts";
import { UsageError } from "./host.ts";

/**
 * What can be set, with a placeholder and a description: in the environment, by `-e NAME=value` of k6, or by
 * `--name value` of `npm run load`.
 */
export const SETTINGS = {
  BASE_URL: ["URL", "the deployment, such as http://localhost:8080"],
  KEYS: ["KEY,…", "API keys of one account; for soak also of several. Others can read them in a list of processes"],
  YES: ["1", "send the load to a deployment that is not this machine"],
  SURFACES: ["NAME,…", "only these surfaces"],
  DURATION: ["SECONDS", "how long soak runs: 60 by default"],
  P99_MS: ["MS", "soak fails if its p99 is above this"],
  MAX_WAIT: ["SECONDS", "the longest wait for a window to end: 120 by default"],
  CONNECTIONS: ["N", "requests in flight at once: 40 by default"],
} as const;

export interface Settings {
  readonly baseUrl: string;
  readonly keys: readonly string[];
  readonly surfaces: readonly Surface[];
  readonly durationMs: number;
  /** The slowest p99 that soak accepts; undefined for any. */
  readonly p99Ms: number | undefined;
  readonly maxWaitMs: number;
  readonly connections: number;
}

/** Checks the settings. @throws {UsageError} that says what to write. */
export function readSettings(given: Readonly<Record<string, string | undefined>>): Settings {
  const whole = (name: keyof typeof SETTINGS): number | undefined => {
    const text = given[name] ?? "";
    if (!/^([1-9]\d{0,8})?$/.test(text)) throw new UsageError(`${name} must be a whole number above 0, not "${text}".`);
    return text === "" ? undefined : Number(text);
  };
  const baseUrl = (given["BASE_URL"] ?? "").replace(/\/+$/, "");
  refuseForeign(baseUrl, given["YES"] === "1");
  const keys = listOf(given["KEYS"]);
  if (keys.length === 0) throw new UsageError("KEYS is missing: API keys of one account, separated by commas.");
  return {
    baseUrl,
    keys,
    surfaces: surfacesOf(given["SURFACES"]),
    durationMs: (whole("DURATION") ?? 60) * 1000,
    p99Ms: whole("P99_MS"),
    maxWaitMs: (whole("MAX_WAIT") ?? 120) * 1000,
    connections: whole("CONNECTIONS") ?? 40,
  };
}

/** A load test can harm the wrong deployment, so every target except this machine needs YES=1. */
export function refuseForeign(baseUrl: string, yes: boolean): void {
  const [, host] = /^https?:\/\/(\[[^\]/]+\]|[^/:?#@[\]]+)(?::\d+)?(?:\/[^?#]*)?$/i.exec(baseUrl) ?? [];
  if (host === undefined)
    throw new UsageError(`BASE_URL must be the URL of a deployment, such as http://localhost:8080, not "${baseUrl}".`);
  const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/i.test(host);
  if (!loopback && !yes)
    throw new UsageError(
      `${host} is not this machine. Set YES=1 if this load is meant for it: it uses up the limits of the account.`,
    );
}

function surfacesOf(text: string | undefined): readonly Surface[] {
  const names = listOf(text);
  const unknown = names.find((name) => !isSurface(name));
  if (unknown !== undefined)
    throw new UsageError(`There is no surface "${unknown}". The surfaces are ${SURFACES.join(", ")}.`);
  return names.length === 0 ? SURFACES : names.filter(isSurface);
}

function listOf(text: string | undefined): string[] {
  return (text ?? "")
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}
