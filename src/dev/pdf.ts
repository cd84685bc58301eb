/**
 * `npm run test:pdf`: validates packs in many scripts as PDF/A-2a with veraPDF, and reads their tags. It needs a JDK and,
 * on first use, Maven, which downloads the validator. Without them it says so and is skipped. Arguments are passed to mocha.
 */
import { existsSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runChild } from "./child.ts";
import { dataDirOf, toolsIn } from "./data-dir.ts";
import { lock } from "./lock.ts";
import { say } from "./output.ts";
import { onPath, step } from "./programs.ts";
import { exitWith } from "./run-suite.ts";

const VERSION = "1.28.1";
const POM = fileURLToPath(new URL("verapdf-pom.xml", import.meta.url));

/** @returns the folder of the validator's jars; undefined if it is not there and cannot be installed. */
async function findValidator(signal: AbortSignal): Promise<string | undefined> {
  // javac comes with a JDK only. A JRE cannot run a program from its source.
  if (onPath("javac") === undefined) return undefined;
  const tools = toolsIn(dataDirOf(process.env));
  const release = await lock(tools, () => say("Waiting for another process to finish installing tools …"));
  try {
    const folder = join(tools, `verapdf-${VERSION}`);
    if (existsSync(folder)) return folder;
    const maven = onPath("mvn");
    if (maven === undefined) return undefined;
    const part = `${folder}.part`; // renamed at the end, so that a folder is never half full
    rmSync(part, { recursive: true, force: true });
    const copy = [
      "--quiet",
      "--batch-mode",
      "--file",
      POM,
      "dependency:copy-dependencies",
      `-DoutputDirectory=${part}`,
    ];
    if (!(await step(`Installing veraPDF ${VERSION} (mvn)`, maven, copy, { signal }))) return undefined;
    renameSync(part, folder);
    return folder;
  } finally {
    release();
  }
}

/** @returns mocha's exit code: the number of failures. */
async function run(args: string[], stopping: AbortSignal): Promise<number> {
  const validator = await findValidator(stopping);
  if (validator === undefined) {
    say("Skipped: PDFs are not validated without veraPDF. On Debian: apt-get install default-jdk-headless maven");
    return 0;
  }
  const selection = args.some((arg) => existsSync(arg)) ? args : ["test/pdf/**/*.test.ts", ...args];
  const env = { ...process.env, VERAPDF_JARS: validator };
  const options = { stopping, forced: stopping, env, stopWith: "SIGKILL" } as const;
  return (await runChild("node_modules/mocha/bin/mocha.js", selection, options).exited) ?? 1;
}

await exitWith(({ stopping }) => run(process.argv.slice(2), stopping));
