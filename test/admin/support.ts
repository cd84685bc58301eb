import { execFile } from "node:child_process";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { expect } from "chai";
import { runCommand } from "../../src/admin/run.ts";
import type { Config } from "../../src/config.ts";
import { compiled } from "../support/compiled.ts";

const run = promisify(execFile);

/** Returns the path of the compiled command line. */
export const adminMain = () => compiled("admin/main.ts");

export interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

/** Returns the environment variables that name the servers. */
export function serversOf({
  MONGODB_URL,
  REDIS_URL,
}: Pick<Config, "MONGODB_URL" | "REDIS_URL">): Record<string, string> {
  return { MONGODB_URL: MONGODB_URL ?? "", REDIS_URL: REDIS_URL ?? "" };
}

/** Runs a command in a child process, as an operator would. Its environment is PATH and `env`, and nothing else. */
export async function adminProcess(args: string[], env: NodeJS.ProcessEnv): Promise<Outcome> {
  try {
    return {
      code: 0,
      ...(await run(process.execPath, [await adminMain(), ...args], { env: { PATH: process.env.PATH, ...env } })),
    };
  } catch (error) {
    return error as Outcome;
  }
}

/**
 * Runs a command in this process, which takes a fraction of the time. `env` takes the place of the environment, and `input`
 * is on standard input.
 */
export async function admin(args: string[], env: NodeJS.ProcessEnv, input = ""): Promise<Outcome> {
  const [stdin, stdout, stderr] = [Readable.from([input]), new PassThrough(), new PassThrough()];
  const printed = Promise.all([text(stdout), text(stderr)]);
  const code = await runCommand(args, { env, stdin, stdout, stderr });
  stdout.end();
  stderr.end();
  const [out, err] = await printed;
  return { code, stdout: out, stderr: err };
}

/** Runs a command that must succeed. @returns the one JSON value that it prints. */
export async function answerOf(args: string[], env: NodeJS.ProcessEnv, runs = admin): Promise<unknown> {
  const { code, stdout, stderr } = await runs(args, env);
  expect({ code, stderr }).to.deep.equal({ code: 0, stderr: "" });
  return JSON.parse(stdout);
}

/** Runs a command that must fail with exit code 1 and an empty standard output. @returns the one line that it prints. */
export function complaintOf(args: string[], env: NodeJS.ProcessEnv, runs = admin): Promise<string> {
  return failure(1, args, env, runs);
}

/** Runs a command with a usage error, and expects exit code 2. @returns its error message, one line. */
export function mistakeOf(args: string[], env: NodeJS.ProcessEnv, runs = admin): Promise<string> {
  return failure(2, args, env, runs);
}

async function failure(expected: 1 | 2, args: string[], env: NodeJS.ProcessEnv, runs: typeof admin): Promise<string> {
  const { code, stdout, stderr } = await runs(args, env);
  expect({ code, stdout }).to.deep.equal({ code: expected, stdout: "" });
  expect(stderr).to.match(/^[^\n]+\n$/);
  return stderr.trim();
}
