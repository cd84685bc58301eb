import type { Operations } from "./operations.ts";

/** The declaration of a command. Its parser, help and errors are made from it. */
interface Definition<Required extends string, Optional extends string, Flag extends string> {
  /** The words that call it, such as `keys create`. */
  readonly words: string;
  readonly help: string;
  /** The required value that is written without an option name: `keys revoke key_…`. */
  readonly argument?: NoInfer<Required>;
  /** The required values, each with its placeholder in the help: `{ account: "ACCOUNT_ID" }`. */
  readonly required?: { readonly [name in Required]: string };
  readonly optional?: { readonly [name in Optional]: string };
  /** Options without a value. If one is given, its value is the empty string. */
  readonly flags?: readonly Flag[];
  /** Runs the command. The result, if there is one, is printed as JSON. */
  run(
    given: Record<Required, string> & Partial<Record<Optional | Flag, string>>,
    operations: Operations,
  ): Promise<object | undefined>;
}

export interface Command {
  readonly words: string;
  readonly help: string;
  readonly argument?: string;
  readonly required: Readonly<Record<string, string>>;
  readonly optional: Readonly<Record<string, string>>;
  readonly flags: readonly string[];
  run(given: Record<string, string>, operations: Operations): Promise<object | undefined>;
}

/** Declares a command. The type of `given` follows from `required`, `optional` and `flags`. */
export function command<
  const Required extends string = never,
  const Optional extends string = never,
  const Flag extends string = never,
>(definition: Definition<Required, Optional, Flag>): Command {
  return { required: {}, optional: {}, flags: [], ...definition };
}

/** Returns the usage of a command: `keys rotate KEY_ID --grace-seconds SECONDS`. */
export function synopsis({ words, argument, required, optional, flags }: Command): string {
  const mandatory = Object.entries(required).map(([name, value]) => (name === argument ? value : `--${name} ${value}`));
  const possible = Object.entries(optional).map(([name, value]) => `[--${name} ${value}]`);
  return [words, ...mandatory, ...possible, ...flags.map((name) => `[--${name}]`)].join(" ");
}
