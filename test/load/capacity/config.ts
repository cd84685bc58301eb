import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import Type, { type Static } from "typebox";
import { UsageError } from "../lib/host.ts";
import { refuseForeign } from "../lib/settings.ts";

const number = (minimum: number, maximum: number, value: number, description: string) =>
  Type.Number({ minimum, maximum, default: value, description });
const share = (value: number) => number(0, 1000, value, "weight of the surface");

/** The file of `npm run load -- capacity`. Its descriptions are those of `--help`. */
export const CapacityFile = Type.Object(
  {
    url: Type.String({ pattern: "^https?://", description: "the deployment, such as http://localhost:8080" }),
    admin: Type.String({
      default: "npm run --silent admin --",
      description: "the command line of the deployment, run by sh",
    }),
    yes: Type.Boolean({ default: false, description: "send the load to a deployment that is not this machine" }),
    p99_ms: number(1, 60_000, 250, "ends at the first step whose p99 is above this"),
    error_percent: number(0, 100, 1, "ends at the first step with a greater share of failed requests"),
    start_rate: number(0.1, 10_000, 5, "requests a second of the first step"),
    growth: number(1.01, 10, 1.25, "the rate of a step, divided by the rate of the one before"),
    max_rate: number(0.1, 10_000, 1000, "ends above this rate"),
    step_seconds: number(0.5, 3600, 10, "length of a step"),
    min_accounts: number(1, 10_000, 5, "minimum number of accounts to create"),
    max_accounts: number(1, 10_000, 200, "maximum number of accounts to create; each has two keys"),
    mix: Type.Object(
      { list: share(60), reads: share(22), writes: share(12), create: share(3), pack: share(3) },
      { additionalProperties: false, default: {}, description: "shares of the surfaces" },
    ),
  },
  { additionalProperties: false },
);
export type Capacity = Static<typeof CapacityFile>;
export type Loaded = keyof Capacity["mix"];

const check = new Ajv2020({ useDefaults: true, allErrors: true }).compile<Capacity>(CapacityFile);

/** Reads the file of a capacity test. @throws {UsageError} that names everything that is wrong with it. */
export function readCapacity(file: string): Capacity {
  let found: unknown;
  try {
    found = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new UsageError(`${file}: ${(error as Error).message}`);
  }
  if (!check(found)) {
    const faults = check.errors?.map(({ instancePath, params, message = "" }) => {
      const name = [instancePath.slice(1).replaceAll("/", "."), params["additionalProperty"] as string | undefined];
      return `${file}: ${name.filter(Boolean).join(".") || "the file"} ${message}`;
    });
    throw new UsageError(faults?.join("\n") ?? file);
  }
  if (Object.values(found.mix).every((part) => part === 0)) throw new UsageError(`${file}: every share of mix is 0`);
  refuseForeign(found.url, found.yes);
  return { ...found, url: found.url.replace(/\/+$/, "") };
}

/** Returns a line for each member of the file. */
export function describeCapacity(): string[] {
  const defaults: object = { url: "http://localhost" };
  check(defaults);
  return Object.entries(CapacityFile.properties).map(([name, schema]) => {
    const value: unknown = name === "url" ? undefined : Reflect.get(defaults, name);
    const given = value === undefined ? "" : `; by default ${JSON.stringify(value)}`;
    return `${name.padEnd(16)}${String(Reflect.get(schema, "description"))}${given}`;
  });
}
