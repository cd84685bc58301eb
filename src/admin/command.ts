import type { Operations } from "./operations.ts";

/** A command as it is declared: its parser, its help and its errors are all made from this. */
interface Definition<Required extends string, Optional extends string, Flag extends string> {
  /** The words that call it, `keys create`. */
  readonly words: string;
  readonly help: string;
  /** The member of `given` that is written without an option: `keys revoke key_…`. */
  readonly argument?: NoInfer<Required>;
  /** What must be given, each with what to write for it: `{ account: "ACCOUNT_ID" }`. */
  readonly required?: { readonly [name in Required]: string };
  readonly optional?: { readonly [name in Optional]: string };
  /** Options without a value; one that was given is the empty text. */
  readonly flags?: readonly Flag[];
  /** Does the work; what it returns is printed as JSON, if anything. */
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

/** Declares a command; the types of what `run` is given follow from `required`, `optional` and `flags`. */
export function command<
  const Required extends string = never,
  const Optional extends string = never,
  const Flag extends string = never,
>(definition: Definition<Required, Optional, Flag>): Command {
  return { required: {}, optional: {}, flags: [], ...definition };
}

/** How to write a command: `keys rotate KEY_ID [--grace-seconds SECONDS]`. */
export function synopsis({ words, argument, required, optional, flags }: Command): string {
  const needed = Object.entries(required).map(([name, value]) => (name === argument ? value : `--${name} ${value}`));
  const possible = Object.entries(optional).map(([name, value]) => `[--${name} ${value}]`);
  return [words, ...needed, ...possible, ...flags.map((name) => `[--${name}]`)].join(" ");
}
