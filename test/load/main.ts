/**
 * `npm run load`: runs the scenarios of test/load/lib without k6. Exit code 0: proved. 1: not exact, not proven or
 * failed. 2: the command line or the target does not fit.
 */
import { parseArgs } from "node:util";
import { explain } from "../../src/dev/output.ts";
import { capacityOf, tidy } from "./capacity/capacity.ts";
import { describeCapacity, readCapacity } from "./capacity/config.ts";
import { type HttpAnswer, type HttpRequest, UsageError } from "./lib/host.ts";
import { runScenario, SCENARIOS } from "./lib/scenarios.ts";
import { readSettings, SETTINGS } from "./lib/settings.ts";

const ANSWER_TIMEOUT_MS = 30_000;
const OPTIONS = Object.entries(SETTINGS).map(([name, [value, text]]) => ({
  option: name.toLowerCase().replaceAll("_", "-"),
  name,
  value,
  text,
}));
const HELP = [
  "npm run load -- SCENARIO --base-url URL --keys KEY,KEY,KEY",
  "",
  "Load-tests a deployment, as test/load/README.md says. It uses up the limits of the account, and creates candidates in it.",
  `The scenarios are ${SCENARIOS.join(", ")}. Each option can be set in the environment too: BASE_URL, KEYS, …`,
  "",
  ...OPTIONS.map(({ option, value, text }) => `  ${`--${option} ${value}`.padEnd(22)}${text}`),
  "",
  "npm run load -- capacity --config FILE [--cleanup]",
  "",
  "Finds how many requests a second a deployment bears, with accounts that it makes, and deletes what it made. --cleanup",
  "deletes what a run left that was killed. FILE is JSON:",
  "",
  ...describeCapacity().map((line) => `  ${line}`),
  "",
  "Exit code 0: proved. 1: not exact, not proven or failed. 2: the command line or the target does not fit.",
].join("\n");

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** @returns whether the scenario was proved. */
async function main(args: string[]): Promise<boolean> {
  if (args.includes("--help")) {
    print(HELP);
    return true;
  }
  const { values, positionals } = parse(args);
  const [scenario, more] = positionals;
  if (scenario === "capacity" && more === undefined) {
    if (typeof values["config"] !== "string") throw new UsageError("Name the file: --config capacity.json");
    const capacity = readCapacity(values["config"]);
    const host = { exchange, say: print };
    return values["cleanup"] === true ? tidy(capacity, host) : capacityOf(capacity, host);
  }
  if (scenario === undefined || more !== undefined)
    throw new UsageError(`Name one scenario: ${SCENARIOS.join(", ")}, capacity.`);
  const given = OPTIONS.map(({ option, name }) => [name, textIn(values[option]) ?? process.env[name]] as const);
  return runScenario(scenario, readSettings(Object.fromEntries(given)), { exchange, say: print });
}

type Values = Record<string, string | boolean | undefined>;

const textIn = (value: Values[string]): string | undefined => (typeof value === "string" ? value : undefined);

function parse(args: string[]): { values: Values; positionals: string[] } {
  const named = Object.fromEntries(
    [...OPTIONS, { option: "config" }].map(({ option }) => [option, { type: "string" }] as const),
  );
  const options = { ...named, cleanup: { type: "boolean" } } as const;
  try {
    return parseArgs({ args, allowPositionals: true, options });
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : String(error)}\nWrite --help for all options.`);
  }
}

async function exchange({ method, url, headers, body }: HttpRequest): Promise<HttpAnswer> {
  const sentAt = performance.now();
  const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
  try {
    const response = await fetch(url, { method, headers, body: body ?? null, signal, redirect: "manual" });
    const text = await response.text();
    const ms = performance.now() - sentAt;
    return { status: response.status, headers: Object.fromEntries(response.headers), body: text, ms };
  } catch (error) {
    const { message, cause } = error as Error & { cause?: { code?: string } };
    return { status: 0, headers: {}, body: cause?.code ?? message, ms: performance.now() - sentAt };
  }
}

try {
  process.exitCode = (await main(process.argv.slice(2))) ? 0 : 1;
} catch (error) {
  const unfit = error instanceof UsageError;
  process.stderr.write(`${unfit ? error.message : explain(error)}\n`);
  process.exitCode = unfit ? 2 : 1;
}
