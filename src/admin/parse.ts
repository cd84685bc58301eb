import { parseArgs } from "node:util";
import { closest, distance } from "fastest-levenshtein";
import { type Command, synopsis } from "./command.ts";

/** Wrong characters up to which a command is taken for a slip of another. */
const MAX_SLIPS = 4;

/** A command line that cannot be understood: one line on what would be right. */
export class UsageError extends Error {}

/** A command and what was given for it; `"help"` when it was asked for. */
export type Parsed = { readonly command: Command; readonly given: Record<string, string> } | "help";

/** Finds the command that `args` call, and what they give it. @throws {UsageError} naming the nearest or the known ones. */
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
  if (words.length === 0) return new UsageError(`No command given. Known are ${known.join(", ")}, help.`);
  const called = words.slice(0, 2).join(" ");
  const ofNoun = known.filter((name) => name.startsWith(`${words[0]} `));
  if (words.length === 1 && ofNoun.length > 0)
    return new UsageError(`Say what to do with ${words[0]}: ${ofNoun.join(", ")}.`);
  const nearest = closest(called, known);
  const hint =
    distance(called, nearest) <= MAX_SLIPS
      ? `The nearest is "${nearest}"; help shows all`
      : `Known are ${known.join(", ")}, help`;
  return new UsageError(`Unknown command "${called}". ${hint}.`);
}

function parseGiven(command: Command, args: readonly string[]): Record<string, string> {
  const names = Object.keys({ ...command.required, ...command.optional }).filter((name) => name !== command.argument);
  const withValue = names.map((name) => [name, { type: "string" }] as const);
  const without = command.flags.map((name) => [name, { type: "boolean" }] as const);
  refuseUnknownOption(command, args, [...names, ...command.flags]);
  const options = Object.fromEntries([...withValue, ...without]);
  const { values, positionals } = parseStrictly(command, { args: [...args], options, allowPositionals: true });
  const [argument, ...tooMuch] = positionals;
  if (command.argument === undefined ? argument !== undefined : tooMuch.length > 0) {
    throw new UsageError(`"${positionals.at(-1)}" is too much. Write: ${synopsis(command)}`);
  }
  const given = {
    ...values,
    ...(command.argument !== undefined && argument !== undefined && { [command.argument]: argument }),
  };
  const missing = Object.keys(command.required).filter((name) => !Object.hasOwn(given, name));
  if (missing.length > 0) throw new UsageError(`${command.words} needs more. Write: ${synopsis(command)}`);
  return given;
}

function refuseUnknownOption(command: Command, args: readonly string[], known: readonly string[]): void {
  const { tokens } = parseArgs({ args: [...args], strict: false, tokens: true });
  const unknown = tokens.find((token) => token.kind === "option" && !known.includes(token.name));
  if (unknown?.kind !== "option") return;
  const nearest = known.length === 0 ? "It takes none" : `The nearest is --${closest(unknown.name, known)}`;
  throw new UsageError(
    `Unknown option ${unknown.rawName} for ${command.words}. ${nearest}; write: ${synopsis(command)}`,
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
    throw new UsageError(`An option of ${command.words} has no value, or one too many. Write: ${synopsis(command)}`);
  }
}
