import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

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
