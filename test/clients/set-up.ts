import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { say } from "../../src/dev/output.ts";
import { onPath, step } from "../../src/dev/programs.ts";
import { findInVenv } from "../../src/dev/python.ts";
import { installPackages, TOOLS, withTools } from "../support/tools.ts";
import type { SetUp } from "../suites.ts";
import { findHeyApi } from "./hey-api.ts";

const REDOCLY = "@redocly/openapi-core";
const GENERATOR = { artifact: "org.openapitools:openapi-generator-cli", version: "7.17.0" };
const requirements = fileURLToPath(new URL("requirements.txt", import.meta.url));
const REPOSITORY = join(TOOLS, "maven");

/**
 * Finds the generators that integrators use, what their clients are compiled with (Go, Java, TypeScript twice, and Python),
 * and a linter of contracts. Names them to the tests, see test/clients/support.ts. The variable of a missing tool is empty,
 * and its tests are skipped.
 */
export const setUp: SetUp = ({ signal }) =>
  withTools(async () => {
    const jar = await findGenerator(signal);
    const go = onPath("go");
    if (jar !== undefined && go === undefined) say("Skipped: Go. Not on the PATH: go. On Debian: golang");
    const python = await findInVenv("openapi-python-client 0.29.1", { tools: TOOLS, requirements, signal });
    if (python === undefined) say("Skipped: Python. It needs python3 3.10 or newer with venv.");
    const heyApi = await findHeyApi(signal);
    if (heyApi === undefined) say("Skipped: @hey-api/openapi-ts. It could not be installed.");
    const redocly = await installPackages([`${REDOCLY}@2.64.0`], signal);
    if (redocly === undefined) say(`Skipped: ${REDOCLY}. It could not be installed.`);
    return {
      env: {
        CLIENTS_GENERATOR: jar ?? "",
        CLIENTS_MAVEN: REPOSITORY,
        CLIENTS_GO: go === undefined ? "" : join(TOOLS, "go"),
        CLIENTS_PYTHON: python ?? "",
        CLIENTS_HEY_API: heyApi ?? "",
        CLIENTS_REDOCLY: redocly === undefined ? "" : join(redocly, REDOCLY),
      },
    };
  });

/** @returns the path of openapi-generator, which Maven downloads once; undefined without Java and Maven. */
async function findGenerator(signal: AbortSignal): Promise<string | undefined> {
  const missing = ["java", "javac", "mvn"].filter((program) => onPath(program) === undefined);
  if (missing.length > 0) {
    say(
      `Skipped: Go, Java and typescript-fetch. Not on the PATH: ${missing.join(", ")}. On Debian: maven, default-jdk-headless`,
    );
    return undefined;
  }
  const jar = join(TOOLS, `openapi-generator-cli-${GENERATOR.version}.jar`);
  const copy = ["org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy", `-DoutputDirectory=${TOOLS}`];
  const artifact = `-Dartifact=${GENERATOR.artifact}:${GENERATOR.version}`;
  const args = ["--batch-mode", "--quiet", `-Dmaven.repo.local=${REPOSITORY}`, ...copy, artifact];
  if (existsSync(jar) || (await step("Downloading openapi-generator (Maven)", "mvn", args, { signal }))) return jar;
  say("Skipped: Go, Java and typescript-fetch. openapi-generator could not be downloaded.");
  return undefined;
}
