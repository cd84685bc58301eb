import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** A program that serves HTTP on a port of 127.0.0.1 which it chose itself. */
export interface Program {
  readonly url: string;
  /** Ends it with SIGTERM. */
  stop(): Promise<void>;
}

/**
 * Starts a program and waits until it logs the address that it listens on.
 * @throws with the end of its log if it exits instead.
 */
export async function startProgram(command: string, args: readonly string[]): Promise<Program> {
  const child = spawn(command, args, { stdio: ["ignore", "ignore", "pipe"] });
  const exited = once(child, "exit");
  const log: string[] = [];
  const listening = new Promise<string>((resolve) => {
    createInterface(child.stderr).on("line", (line) => {
      log.push(line);
      const [, port] = /listening on"?.* ?(?:address=)?127\.0\.0\.1:(\d+)/i.exec(line) ?? [];
      if (port !== undefined) resolve(`http://127.0.0.1:${port}`);
    });
  });
  const gone = exited.then(() => {
    throw new Error(`${command} did not start: ${log.slice(-5).join("\n")}`);
  });
  const url = await Promise.race([listening, gone]);
  gone.catch(() => undefined); // it exits when it is stopped
  return {
    url,
    async stop() {
      child.kill("SIGTERM");
      await exited;
    },
  };
}
