/**
 * `npm run test:clients`: makes clients from /openapi.json with the generators that integrators use, compiles them and
 * uses them against the service: Go, Java, TypeScript twice, and Python. A language whose tools are missing is skipped,
 * and said to be. The first run downloads the generators and what the clients need. Arguments are passed to mocha.
 */
import { existsSync, mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { dataDirOf, toolsIn } from "./data-dir.ts";
import { lock } from "./lock.ts";
import { say } from "./output.ts";
import { onPath, step } from "./programs.ts";
import { findInVenv } from "./python.ts";
import { runSuite } from "./run-suite.ts";

const GENERATOR = { artifact: "org.openapitools:openapi-generator-cli", version: "7.17.0" };
/** The version that runs on Node 20. It uses the JavaScript API of TypeScript 5, which the project's TypeScript does not have. */
const HEY_API = ["@hey-api/openapi-ts@0.95.0", "typescript@5.9.3"];
const REQUIREMENTS = fileURLToPath(new URL("clients-requirements.txt", import.meta.url));

/** @returns the path of openapi-generator, which Maven downloads once; undefined without Java and Maven. */
async function findGenerator(tools: string, repository: string, signal: AbortSignal): Promise<string | undefined> {
  const missing = ["java", "javac", "mvn"].filter((program) => onPath(program) === undefined);
  if (missing.length > 0) {
    say(
      `Skipped: Go, Java and typescript-fetch. Not on the PATH: ${missing.join(", ")}. On Debian: maven, default-jdk-headless`,
    );
    return undefined;
  }
  const jar = join(tools, `openapi-generator-cli-${GENERATOR.version}.jar`);
  const copy = ["org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy", `-DoutputDirectory=${tools}`];
  const artifact = `-Dartifact=${GENERATOR.artifact}:${GENERATOR.version}`;
  const args = ["--batch-mode", "--quiet", `-Dmaven.repo.local=${repository}`, ...copy, artifact];
  if (existsSync(jar) || (await step("Downloading openapi-generator (Maven)", "mvn", args, { signal }))) return jar;
  say("Skipped: Go, Java and typescript-fetch. openapi-generator could not be downloaded.");
  return undefined;
}

/** @returns the path of @hey-api/openapi-ts, which npm installs once, with the TypeScript that it needs. */
async function findHeyApi(tools: string, signal: AbortSignal): Promise<string | undefined> {
  const folder = join(tools, HEY_API.map((name) => name.replace(/.*\//, "")).join("-"));
  const program = join(folder, "node_modules/@hey-api/openapi-ts/bin/run.js");
  if (existsSync(program)) return program;
  mkdirSync(folder, { recursive: true });
  const args = ["install", "--prefix", folder, "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", ...HEY_API];
  if (await step("Installing @hey-api/openapi-ts (npm)", "npm", args, { signal })) return program;
  say("Skipped: @hey-api/openapi-ts. It could not be installed.");
  return undefined;
}

/** @returns the variables that name the tools to the tests, see test/clients/support.ts. The variable of a missing tool is empty. */
async function findTools(signal: AbortSignal): Promise<NodeJS.ProcessEnv> {
  const tools = toolsIn(dataDirOf(process.env));
  const repository = join(tools, "maven");
  const release = await lock(tools, () => say("Waiting for another process to finish installing tools …"));
  try {
    const jar = await findGenerator(tools, repository, signal);
    const go = onPath("go");
    if (jar !== undefined && go === undefined) say("Skipped: Go. Not on the PATH: go. On Debian: golang");
    const requirements = { tools, requirements: REQUIREMENTS, signal };
    const python = await findInVenv("openapi-python-client 0.29.1", requirements);
    if (python === undefined) say("Skipped: Python. It needs python3 3.10 or newer with venv.");
    return {
      CLIENTS_GENERATOR: jar ?? "",
      CLIENTS_MAVEN: repository,
      CLIENTS_GO: go === undefined ? "" : join(tools, "go"),
      CLIENTS_PYTHON: python ?? "",
      CLIENTS_HEY_API: (await findHeyApi(tools, signal)) ?? "",
    };
  } finally {
    release();
  }
}

const args = process.argv.slice(2);
const selection = args.some((arg) => existsSync(arg)) ? args : ["test/clients/**/*.test.ts", ...args];
await runSuite({
  name: "clients",
  mocha: ["--timeout", "240000", ...selection],
  env: (_servers, _dataDir, signal) => findTools(signal),
});
