import type { Configuration } from "./configuration.ts";

/** Every protection that Limiter.tla and LimiterScript.tla ask about, in the order of the modules. */
const PROTECTIONS = [
  // The ledger and its window.
  "only one window ahead",
  "ledger ahead",
  "ledger is emptied",
  "version outlives the window",
  // One charge.
  "both windows are checked",
  "account first",
  "both or none",
  "deadline",
  "no resend",
  // Whether a key may be used: the version of the account.
  "missing version",
  "version compared",
  "end of a secret",
  "version only raised",
  "look-up repeated after a reconnection",
  "version has a deadline",
  "look-up raises the version",
  "outdated key is looked up again",
  "keys looked up after a reconnection",
  "acknowledged after the announcement",
  "no charge with a key from before a reconnection",
  "announcement has a deadline",
  // Grants.
  "grants only beyond a window",
  "a draw ends with its window",
  "grant of one key",
  "grant expires",
  "grant is filled once",
  // The refusals that replicas repeat.
  "refusal has a time limit",
  "refusal ends with its window",
  "refusal only for that cost",
  "refusals dropped on reconnection",
  "no refusal from before a drop",
  "no refusal beside a grant",
  "issue waits for cached refusals",
] as const;

export type Protection = (typeof PROTECTIONS)[number];

/** The constants of Limiter.tla, except its protections. */
const DEFAULTS = {
  Keys: "{k1, k2}",
  Replicas: "{r1}",
  Surfaces: '{"create"}',
  Requests: "{1, 2, 3}",
  Commands: "{}",
  Kinds: "{}",
  Costs: "{1}",
  AccountLimit: "2",
  KeyLimit: "1",
  Window: "2",
  Outlives: "2",
  MaxTime: "2",
  ClockStart: "1",
  StepsBack: "{}",
  StepsForward: "{}",
  MaxSteps: "0",
  SkewsBack: "{}",
  SkewsForward: "{0}",
  MaxLosses: "0",
  Timeout: "2",
  WayBack: "1",
  Grace: "0",
  LookUpTime: "1000",
  VersionLife: "1000",
  AccountRefusal: "0",
  KeyRefusalLife: "0",
  GrantAmount: "1",
  GrantExpires: "1000",
  Features: "{}",
} as const;

export type Constants = Partial<Record<keyof typeof DEFAULTS, string>>;

/** A set of strings, as TLC reads it. */
export const strings = (...members: readonly string[]): string => `{${members.map((one) => `"${one}"`).join(", ")}}`;

const all = (missing: readonly Protection[]): string => strings(...PROTECTIONS.filter((one) => !missing.includes(one)));

export interface LimiterRun extends Pick<Configuration, "name" | "about" | "invariants"> {
  readonly constants?: Constants;
  readonly size?: Configuration["size"];
  /** Protections that this design does not have, or does not need. */
  readonly lacks?: readonly Protection[];
}

/** A run in which every invariant must hold. */
export function run({ constants, size = "small", lacks = [], ...rest }: LimiterRun): Configuration {
  const values = { ...DEFAULTS, ...constants, Protections: all(lacks) };
  return { ...rest, module: "Limiter", size, symmetry: "Symmetry", constants: values };
}

interface Broken {
  readonly of: Configuration;
  /** What is missing, for the name of the row. */
  readonly without: string;
  readonly lacks?: readonly Protection[];
  readonly constants?: Constants;
  readonly violates: string;
}

/** The run with something missing: protections, or a constant that is too small. TLC must find the violation. */
function broken({ of, without, lacks = [], constants = {}, violates }: Broken): Configuration {
  const gone = lacks.length > 0 ? { Protections: remaining(of, lacks) } : {};
  return {
    ...of,
    size: "small",
    name: `${of.name}, without: ${without}`,
    about: `The same without: ${without}.`,
    constants: { ...of.constants, ...constants, ...gone },
    invariants: [violates],
    violates,
  };
}

function remaining({ constants }: Configuration, lacks: readonly string[]): string {
  const kept = [...(constants.Protections ?? "").matchAll(/"([^"]+)"/g)].map(([, name]) => name ?? "");
  return strings(...kept.filter((name) => !lacks.includes(name)));
}

/** A mutant: the run without one protection. */
export function mutant(
  of: Configuration,
  lacks: Protection,
  violates: string,
  constants: Constants = {},
): Configuration {
  return broken({ of, without: lacks, lacks: [lacks], constants, violates });
}

/** A mutant that is a constant: the run with a time that is too short. */
export function shortened(of: Configuration, without: string, violates: string, constants: Constants): Configuration {
  return broken({ of, without, constants, violates });
}

/** A run of something that the design does not promise, or no longer does: the violation shows where a promise ends. */
export function limit(options: LimiterRun & { readonly violates: string }): Configuration {
  const { violates, ...rest } = options;
  return { ...run(rest), name: `limit: ${rest.name}`, violates };
}

/** Shows that the run reaches an interesting state: an invariant that denies it is violated. */
export function reaches(of: Configuration, what: string, violates: string): Configuration {
  return { ...of, size: "small", name: `${of.name}, reaches: ${what}`, about: what, invariants: [violates], violates };
}
