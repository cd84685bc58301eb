import { Command, type CommandUnknownOpts, type Help } from "@commander-js/extra-typings";
import { CommanderError } from "commander";
import { ConfigError, readConfig } from "../config.ts";
import { Problem } from "../problems.ts";
import { addAccountCommands } from "./accounts.ts";
import { addAuditCommands } from "./audit.ts";
import { addCandidateCommands } from "./candidates.ts";
import { type CommandContext, printed, type Run } from "./command.ts";
import { addConfigCommand } from "./config.ts";
import { addErasureCommands } from "./erasures.ts";
import { addGrantCommands } from "./grants.ts";
import { addKeyCommands } from "./keys.ts";
import { addLimitCommands } from "./limits.ts";
import { Operations } from "./operations.ts";
import { addOutreachCommands } from "./outreach.ts";
import { addUsageCommands } from "./usage.ts";
import { addRetentionCommands } from "./retention.ts";
import { addRestoreCommands } from "./restore.ts";

class UsageError extends Error {}

/** Widths in characters. The longest name of a command is `outreach opt-outs`. */
const HELP_WIDTH = 80;
const NAME_WIDTH = 17;

/**
 * Runs one command: prints one JSON value to standard output. An error is one line on standard error.
 * @returns the exit code: 0, 1 after an error, or 2 if the command line must be written differently.
 */
export async function runCommand(args: readonly string[], context: CommandContext): Promise<0 | 1 | 2> {
  const { env, stdout, stderr } = context;
  const run: Run = async (work) => {
    const operations = new Operations(readConfig(env), args);
    try {
      const result = await work(operations, context);
      if (result !== undefined) await printed(result, context);
    } finally {
      await operations.close();
    }
  };
  try {
    await commandLine(run, stdout).parseAsync(args, { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0; // help was asked for
    stderr.write(`${oneLine(error)}\n`);
    return error instanceof UsageError || (error instanceof Problem && error.code === "validation_failed") ? 2 : 1;
  }
}

function commandLine(run: Run, stdout: NodeJS.WritableStream): Command {
  const admin = new Command("admin").configureOutput({
    writeOut: (text) => void stdout.write(text),
    writeErr: () => undefined, // `runCommand` prints the error that is thrown
    getOutHelpWidth: () => HELP_WIDTH,
  });
  // In the order of the help.
  addAccountCommands(admin, run);
  addKeyCommands(admin, run);
  addGrantCommands(admin, run);
  addLimitCommands(admin, run);
  addUsageCommands(admin, run);
  addOutreachCommands(admin, run);
  addRetentionCommands(admin, run);
  addRestoreCommands(admin, run);
  addCandidateCommands(admin, run);
  addErasureCommands(admin, run);
  addAuditCommands(admin, run);
  addConfigCommand(admin, run);
  admin.hook("preAction", (_admin, command) => refuseOptionAsValue(command));
  admin.configureHelp({ formatHelp: overview });
  throwErrorsWithUsage(admin, "admin");
  return admin;
}

/** Returns the help of `admin`: every command in one line, grouped by noun. */
function overview(admin: CommandUnknownOpts, helper: Help): string {
  const groups = admin.commands.map((noun) =>
    (noun.commands.length === 0 ? [noun] : noun.commands).map((command) => {
      const name = command === noun ? noun.name() : `${noun.name()} ${command.name()}`;
      return `${helper.formatItem(name, NAME_WIDTH, helper.subcommandDescription(command), helper)}\n`;
    }),
  );
  const lists = groups.map((lines) => lines.join("")).join("\n");
  return `Usage: admin COMMAND [options]

${lists}
admin COMMAND --help explains a command and its options. Output is JSON.
Set MONGODB_URL and REDIS_URL, or run npm start first: npm run admin then finds
its servers.
`;
}

/** Makes the errors of a command, and of those below it, one line that ends with what to write. */
function throwErrorsWithUsage(command: CommandUnknownOpts, path: string): void {
  command.exitOverride((error) => {
    if (error.exitCode === 0) throw error;
    throw new UsageError(`${faultOf(error, command)} Write: ${usageOf(command, path)}`);
  });
  for (const each of command.commands) throwErrorsWithUsage(each, `${path} ${each.name()}`);
}

function faultOf({ code, message }: CommanderError, { args }: CommandUnknownOpts): string {
  if (code === "commander.help") return "No command given.";
  const fault = message.replace(/^error: (.)/, (_, first: string) => first.toUpperCase()).replace(/[^.)]$/, "$&.");
  // Commander reports a missing option before an unknown one. The unknown one may be the missing one, mistyped.
  const unknown = code === "commander.missingMandatoryOptionValue" && args.find((arg) => arg.startsWith("-"));
  return typeof unknown === "string" ? `Unknown option '${unknown}'. ${fault}` : fault;
}

function usageOf({ commands, registeredArguments, options }: CommandUnknownOpts, path: string): string {
  if (commands.length > 0) return `${path} ${[...commands.map((command) => command.name()), "help"].join("|")}`;
  const mandatory = registeredArguments.map((argument) => `<${argument.name()}>`);
  return [path, ...mandatory, ...options.map(({ flags, mandatory: must }) => (must ? flags : `[${flags}]`))].join(" ");
}

/** Refuses `--name --help`, which would create an account of that name. */
function refuseOptionAsValue(command: CommandUnknownOpts): void {
  for (const option of command.options)
    if (String(command.getOptionValue(option.attributeName())).startsWith("--"))
      command.error(`error: option '${option.flags}' argument missing`);
}

/**
 * Returns an error and its causes as one line. Hides the passwords in URLs, and hides a key that the operator typed
 * instead of its id.
 */
function oneLine(error: unknown): string {
  const lines = explain(error).split(/\s*\n\s*/);
  const line = lines.join(error instanceof ConfigError ? "; " : " ");
  return line.replaceAll(/\/\/[^@/\s]*@/g, "//…@").replaceAll(/cos_live_\w+/g, "cos_live_…");
}

function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? "" : explain(error.cause);
  return cause === "" || cause.includes(error.message) ? cause || error.message : `${error.message} (${cause})`;
}
