import { SURFACES } from "./asks.ts";
import { type Settings, UsageError } from "./host.ts";

/** The bounds of a run that sets none. */
export const DEFAULTS = { connections: 40, maxRequests: 20_000, durationSeconds: 60, maxWaitSeconds: 120 } as const;

/** The settings as text, by their names in the environment of k6. `npm run load` has an option for each. */
export type Given = Readonly<Record<string, string | undefined>>;

/**
 * Checks the settings.
 * @param called what the user calls a setting, for the errors.
 * @throws {UsageError} that says what to write.
 */
export function readSettings(given: Given, called: (name: string) => string = (name) => name): Settings {
  const number = (name: string): number | undefined => {
    const text = given[name];
    if (text === undefined || text === "") return undefined;
    if (!/^\d+(\.\d+)?$/.test(text) || Number(text) <= 0)
      throw new UsageError(`${called(name)} must be a number above 0, not "${text}".`);
    return Number(text);
  };
  const whole = (name: string): number | undefined => {
    const value = number(name);
    if (value !== undefined && !Number.isSafeInteger(value))
      throw new UsageError(`${called(name)} must be a whole number, not "${given[name]}".`);
    return value;
  };
  const baseUrl = (given["BASE_URL"] ?? "").replace(/\/+$/, "");
  refuseForeign(baseUrl, given["YES"] === "1", called);
  const keys = listOf(given["KEYS"]);
  if (keys.length === 0)
    throw new UsageError(`${called("KEYS")} is missing: API keys of one account, separated by commas.`);
  return {
    baseUrl,
    keys,
    surfaces: surfacesOf(given["SURFACES"]),
    windowSeconds: number("WINDOW_SECONDS"),
    connections: whole("CONNECTIONS") ?? DEFAULTS.connections,
    maxRequests: whole("MAX_REQUESTS") ?? DEFAULTS.maxRequests,
    durationMs: (number("DURATION") ?? DEFAULTS.durationSeconds) * 1000,
    maxWaitMs: (number("MAX_WAIT") ?? DEFAULTS.maxWaitSeconds) * 1000,
    fresh: given["FRESH"] === "1",
    p99Ms: number("P99_MS"),
  };
}

/** A load test can harm the wrong deployment, so every target except this machine needs YES=1. */
function refuseForeign(baseUrl: string, yes: boolean, called: (name: string) => string): void {
  const [, host] = /^https?:\/\/(\[[^\]/]+\]|[^/:?#@[\]]+)(?::\d+)?(?:\/[^?#]*)?$/i.exec(baseUrl) ?? [];
  if (host === undefined)
    throw new UsageError(
      `${called("BASE_URL")} must be the URL of a deployment, such as http://localhost:8080, not "${baseUrl}".`,
    );
  const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/i.test(host);
  if (!loopback && !yes)
    throw new UsageError(
      `${host} is not this machine. Write ${called("YES=1")} if this load is meant for it: it uses up the limits of the account.`,
    );
}

function surfacesOf(text: string | undefined): string[] {
  const names = listOf(text);
  const unknown = names.find((name) => !(SURFACES as string[]).includes(name));
  if (unknown !== undefined)
    throw new UsageError(`There is no surface "${unknown}". The surfaces are ${SURFACES.join(", ")}.`);
  return names.length === 0 ? [...SURFACES] : names;
}

function listOf(text: string | undefined): string[] {
  return (text ?? "")
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
}
