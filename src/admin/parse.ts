import { parseArgs } from "node:util";
import { closest, distance } from "fastest-levenshtein";
import { type Command, synopsis } from "./command.ts";

/** Largest edit distance at which an unknown command still counts as a typing error. */
const MAX_TYPOS = 4;

/** The command line is wrong. The message is one line that says what to write. */
export class UsageError extends Error {}

/** A command with its values, or `"help"`. */
export type Parsed = { readonly command: Command; readonly given: Record<string, string> } | "help";

/** Parses a command line. @throws {UsageError} with the nearest command, or with all of them. */
export function parse(commands: readonly Command[], args: readonly string[]): Parsed {
  const split = args.findIndex((arg) => arg.startsWith("-"));
  const words = split === -1 ? args : args.slice(0, split);
  if (words[0] === "help" || args.includes("--help") || args.includes("-h")) return "help";
  const command = commands.find((candidate) => ` ${words.join(" ")} `.startsWith(` ${candidate.words} `));
  if (command === undefined) throw unknownCommand(commands, words);
  return { command, given: parseGiven(command, args.slice(command.words.split(" ").length)) };
}

function unknownCommand(commands: readonly Command[], words: readonly string[]): UsageError {
  const known = commands.map((command) => command.words);
  if (words.length === 0) return new UsageError(`No command given. The commands are ${known.join(", ")}, help.`);
  const called = words.slice(0, 2).join(" ");
  const ofNoun = known.filter((name) => name.startsWith(`${words[0]} `));
  if (words.length === 1 && ofNoun.length > 0)
    return new UsageError(`"${words[0]}" needs a second word. Write one of: ${ofNoun.join(", ")}.`);
  const nearest = closest(called, known);
  const hint =
    distance(called, nearest) <= MAX_TYPOS
      ? `The nearest is "${nearest}". Write help for all commands`
      : `The commands are ${known.join(", ")}, help`;
  return new UsageError(`Unknown command "${called}". ${hint}.`);
}

function parseGiven(command: Command, args: readonly string[]): Record<string, string> {
  const names = Object.keys({ ...command.required, ...command.optional }).filter((name) => name !== command.argument);
  const withValue = names.map((name) => [name, { type: "string" }] as const);
  const without = command.flags.map((name) => [name, { type: "boolean" }] as const);
  refuseUnknownOption(command, args, [...names, ...command.flags]);
  const options = Object.fromEntries([...withValue, ...without]);
  const { values, positionals } = parseStrictly(command, { args: [...args], options, allowPositionals: true });
  const [argument, ...extra] = positionals;
  if (command.argument === undefined ? argument !== undefined : extra.length > 0) {
    throw new UsageError(`"${positionals.at(-1)}" is one argument too many. Write: ${synopsis(command)}`);
  }
  const given = {
    ...values,
    ...(command.argument !== undefined && argument !== undefined && { [command.argument]: argument }),
  };
  const missing = Object.keys(command.required).filter((name) => !Object.hasOwn(given, name));
  if (missing.length > 0)
    throw new UsageError(`${command.words} lacks ${missing.join(", ")}. Write: ${synopsis(command)}`);
  return given;
}

function refuseUnknownOption(command: Command, args: readonly string[], known: readonly string[]): void {
  const { tokens } = parseArgs({ args: [...args], strict: false, tokens: true });
  const unknown = tokens.find((token) => token.kind === "option" && !known.includes(token.name));
  if (unknown?.kind !== "option") return;
  const nearest = known.length === 0 ? "It has no options" : `The nearest is --${closest(unknown.name, known)}`;
  throw new UsageError(
    `Unknown option ${unknown.rawName} for ${command.words}. ${nearest}. Write: ${synopsis(command)}`,
  );
}

interface Strict {
  args: string[];
  options: Record<string, { type: "string" | "boolean" }>;
  allowPositionals: true;
}

function parseStrictly(command: Command, config: Strict): { values: Record<string, string>; positionals: string[] } {
  try {
    const { values, positionals } = parseArgs({ ...config, strict: true });
    return {
      values: Object.fromEntries(
        Object.entries(values).map(([name, value]) => [name, typeof value === "string" ? value : ""]),
      ),
      positionals,
    };
  } catch {
    throw new UsageError(
      `An option of ${command.words} has no value, or a value it does not take. Write: ${synopsis(command)}`,
    );
  }
}
