import { ConfigError, readConfig } from "../config.ts";
import { accountCommands } from "./accounts.ts";
import { auditCommands } from "./audit.ts";
import { synopsis } from "./command.ts";
import { configCommands } from "./config.ts";
import { grantCommands } from "./grants.ts";
import { keyCommands } from "./keys.ts";
import { limitCommands } from "./limits.ts";
import { outreachCommands } from "./outreach.ts";
import { Operations } from "./operations.ts";
import { parse } from "./parse.ts";
import { print } from "./print.ts";

const commands = [
  ...accountCommands,
  ...keyCommands,
  ...grantCommands,
  ...limitCommands,
  ...outreachCommands,
  ...auditCommands,
  ...configCommands,
];

/** What a command reads and writes. `process` has all of it. */
export interface CommandContext {
  readonly env: NodeJS.ProcessEnv;
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
}

/**
 * Runs one command: prints one JSON object to standard output. An error is one line on standard error.
 * @returns the exit code: 0, or 1 after an error.
 */
export async function runCommand(args: readonly string[], { env, stdout, stderr }: CommandContext): Promise<0 | 1> {
  try {
    await answer(args, env, stdout);
    return 0;
  } catch (error) {
    stderr.write(`${oneLine(error)}\n`);
    return 1;
  }
}

async function answer(args: readonly string[], env: NodeJS.ProcessEnv, stdout: NodeJS.WritableStream): Promise<void> {
  const parsed = parse(commands, args);
  if (parsed === "help") return void stdout.write(helpText());
  const operations = new Operations(readConfig(env));
  try {
    const answered = await parsed.command.run(parsed.given, operations);
    if (answered !== undefined) await print(answered, stdout);
  } finally {
    await operations.close();
  }
}

function helpText(): string {
  const rows = commands.map((command) => [synopsis(command), command.help] as const);
  const width = Math.max(...rows.map(([usage]) => usage.length));
  const lines = rows.map(([usage, help]) => `  ${usage.padEnd(width)}  ${help}`);
  return [
    "npm run --silent admin -- COMMAND",
    "",
    ...lines,
    "",
    "Answers are JSON. Set MONGODB_URL and REDIS_URL, or run npm start first: `npm run admin` then finds its servers.",
    "",
  ].join("\n");
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
