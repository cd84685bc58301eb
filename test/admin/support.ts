import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect } from "chai";
import type { Config } from "../../src/config.ts";
import { compiled } from "../support/compiled.ts";

const run = promisify(execFile);

/** The JavaScript that node runs for the command line. */
export const adminMain = () => compiled("admin/main.ts");

export interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

/** The settings that say where the servers are. */
export function serversOf({
  MONGODB_URL,
  REDIS_URL,
}: Pick<Config, "MONGODB_URL" | "REDIS_URL">): Record<string, string> {
  return { MONGODB_URL: MONGODB_URL ?? "", REDIS_URL: REDIS_URL ?? "" };
}

/** Runs the command line as an operator's shell does, in a process of its own, with nothing else in its environment. */
export async function admin(args: string[], env: NodeJS.ProcessEnv): Promise<Outcome> {
  try {
    return {
      code: 0,
      ...(await run(process.execPath, [await adminMain(), ...args], { env: { PATH: process.env.PATH, ...env } })),
    };
  } catch (error) {
    return error as Outcome;
  }
}

/** What a command that works prints: one JSON value, and nothing else. */
export async function answerOf(args: string[], env: NodeJS.ProcessEnv): Promise<unknown> {
  const { code, stdout, stderr } = await admin(args, env);
  expect({ code, stderr }).to.deep.equal({ code: 0, stderr: "" });
  return JSON.parse(stdout);
}

/** What a command that fails prints: one line, exit code 1, nothing on standard output. */
export async function complaintOf(args: string[], env: NodeJS.ProcessEnv): Promise<string> {
  const { code, stdout, stderr } = await admin(args, env);
  expect({ code, stdout }).to.deep.equal({ code: 1, stdout: "" });
  expect(stderr).to.match(/^[^\n]+\n$/);
  return stderr.trim();
}
