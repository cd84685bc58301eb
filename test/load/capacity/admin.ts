import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { UsageError } from "../lib/host.ts";

/** Runs a command of the deployment's command line, and returns the JSON that it prints. */
export type Admin = <T>(...args: string[]) => Promise<T>;

/** @param command such as `kubectl -n onboarding exec deploy/onboarding -- node dist/admin/main.js`, run by sh. */
export function adminBy(command: string): Admin {
  return async <T>(...args: string[]): Promise<T> => {
    const stdio: ["ignore", "pipe", "pipe"] = ["ignore", "pipe", "pipe"];
    // A separate process group, so that Ctrl-C does not interrupt a command that creates an account.
    const child = spawn("sh", ["-c", `${command} "$@"`, "admin", ...args], { stdio, detached: true });
    const [out, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
    if (code !== 0) throw new UsageError(`${command} ${args.join(" ")}: ${errors.trim() || `exit code ${code}`}`);
    return JSON.parse(out) as T;
  };
}
