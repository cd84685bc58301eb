/**
 * `npm run test:k8s`: builds the overlays of k8s/ with kustomize and checks the result against the schemas of three
 * versions of Kubernetes and against our own policy. It needs no cluster, and no network once its tools are installed.
 * It says which tool is missing: without kustomize all tests are skipped, without Python those of the schemas.
 * Arguments are passed to mocha.
 */
import { existsSync } from "node:fs";
import { runChild } from "./child.ts";
import { dataDirOf, toolsIn } from "./data-dir.ts";
import { findKustomize, findSchemas } from "./kubernetes.ts";
import { lock } from "./lock.ts";
import { say } from "./output.ts";
import { exitWith } from "./run-suite.ts";

/** The validator reads all of its schemas again for each object. On two cores that takes 20 s. */
const SCHEMAS_TIMEOUT_MS = "180000";

/** @returns the variables that name the tools to the tests, see test/k8s/build.ts; undefined without kustomize. */
async function findTools(signal: AbortSignal): Promise<NodeJS.ProcessEnv | undefined> {
  const tools = toolsIn(dataDirOf(process.env));
  const release = await lock(tools, () => say("Waiting for another process to finish installing tools …"));
  try {
    const kustomize = await findKustomize(tools, signal);
    if (kustomize === undefined) return undefined;
    const schemas = await findSchemas(tools, signal);
    if (schemas === undefined) say("Skipped: the schemas of Kubernetes. They need python3 3.10 or newer with venv.");
    return { K8S_KUSTOMIZE: JSON.stringify(kustomize), K8S_SCHEMAS: schemas ?? "" };
  } finally {
    release();
  }
}

/** @returns mocha's exit code: the number of failures. */
async function run(args: string[], stopping: AbortSignal): Promise<number> {
  const tools = await findTools(stopping);
  if (tools === undefined) {
    say("Skipped: k8s/ is not checked without kustomize 5. Install kustomize, kubectl 1.27 or newer, or Go.");
    return 0;
  }
  const selection = args.some((arg) => existsSync(arg)) ? args : ["test/k8s/**/*.test.ts", ...args];
  const options = { stopping, forced: stopping, env: { ...process.env, ...tools }, stopWith: "SIGKILL" } as const;
  const mocha = ["--timeout", SCHEMAS_TIMEOUT_MS, ...selection];
  return (await runChild("node_modules/mocha/bin/mocha.js", mocha, options).exited) ?? 1;
}

await exitWith(({ stopping }) => run(process.argv.slice(2), stopping));
