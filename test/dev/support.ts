import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** A folder of its own for each test of the suite that calls this, removed after it. @returns its path. */
export function useFolder(): () => string {
  let folder = "";
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "onboarding-dev-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  return () => folder;
}

/** Makes PATH what a test says; it is put back after it. */
export function usePath(): (path: string) => void {
  const before = process.env["PATH"];
  afterEach(() => {
    process.env["PATH"] = before;
  });
  return (path) => {
    process.env["PATH"] = path;
  };
}

/** Writes a program for /bin/sh. @returns its path. */
export function program(path: string, script: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}
