import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";

/** Creates a folder before each test of the suite that calls this, and removes it after the test. @returns its path. */
export function useFolder(): () => string {
  let folder = "";
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "onboarding-dev-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  return () => folder;
}

/** Returns a function that sets PATH. PATH is restored after each test. */
export function usePath(): (path: string) => void {
  const before = process.env["PATH"];
  afterEach(() => {
    process.env["PATH"] = before;
  });
  return (path) => {
    process.env["PATH"] = path;
  };
}

/** Writes an executable script for /bin/sh. @returns its path. */
export function program(path: string, script: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

/** Runs `npm start` on the servers of the test run. */
export function start(dataDir: string, env: Record<string, string> = {}): ChildProcess {
  const own = {
    DATA_DIR: dataDir,
    PORT: "0",
    OPS_PORT: "0",
    HOST: "127.0.0.1",
    LOG_LEVEL: "error",
  };
  return spawn(process.execPath, ["src/dev/bootstrap.mjs", "src/dev/start.ts"], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...own, ...env },
  });
}

/** Reads its output up to the empty line after its greeting. */
export async function greeting(child: ChildProcess): Promise<string> {
  let printed = "";
  for await (const more of child.stdout?.iterator({ destroyOnReturn: false }) ?? []) {
    printed += String(more);
    if (/Ready: [^]*\n\n$/.test(printed)) break;
  }
  return printed;
}

/** Sends the signal and waits for its end. @returns its exit code. */
export async function stop(child: ChildProcess, signal: NodeJS.Signals): Promise<unknown> {
  if (!child.kill(signal)) return child.exitCode; // it has ended already
  const [code]: unknown[] = await once(child, "exit");
  return code;
}

/** Waits until it exits by itself. @returns its exit code and its standard error. */
export async function refusal(child: ChildProcess): Promise<{ code: unknown; line: string }> {
  const [[code], line]: [unknown[], string] = await Promise.all([
    once(child, "exit"),
    child.stderr === null ? "" : text(child.stderr),
  ]);
  return { code, line: line.trimEnd() };
}
