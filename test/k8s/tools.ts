import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { onPath, step } from "../../src/dev/programs.ts";
import { findInVenv } from "../../src/dev/python.ts";
import { TOOLS } from "../support/tools.ts";

/** kubernetes-validate carries the schemas of many versions of Kubernetes, so validating needs no network. */
const SCHEMAS = "kubernetes-validate 1.37.0";
const REQUIREMENTS = fileURLToPath(new URL("requirements.txt", import.meta.url));

/** Go builds this version if no other is found. Later ones need a newer Go than Debian's. */
const KUSTOMIZE = { version: "5.7.1", module: "sigs.k8s.io/kustomize/kustomize/v5@v5.7.1" };

/**
 * Finds kustomize 5 or newer: `kustomize` on the PATH, else the one inside kubectl, else one that Go builds.
 * @returns a command that builds the folder given as its last argument; undefined if there is no kustomize.
 */
export async function findKustomize(signal: AbortSignal): Promise<string[] | undefined> {
  const kustomize = onPath("kustomize");
  if (kustomize !== undefined && (await isRecent(kustomize, ["version"]))) return [kustomize, "build"];
  const kubectl = onPath("kubectl");
  if (kubectl !== undefined && (await isRecent(kubectl, ["version", "--client"]))) return [kubectl, "kustomize"];
  const folder = join(TOOLS, `kustomize-${KUSTOMIZE.version}`);
  const built = join(folder, "kustomize");
  if (existsSync(built)) return [built, "build"];
  const go = onPath("go");
  if (go === undefined) return undefined;
  const title = `Building kustomize ${KUSTOMIZE.version} (go install)`;
  const done = await step(title, go, ["install", KUSTOMIZE.module], {
    signal,
    env: { GOBIN: folder, CGO_ENABLED: "0" }, // without a C compiler
  });
  return done ? [built, "build"] : undefined;
}

/** Returns whether a program says that its kustomize is 5 or newer. That of an old kubectl knows no components. */
async function isRecent(program: string, args: string[]): Promise<boolean> {
  try {
    const { stdout } = await promisify(execFile)(program, args, { timeout: 10_000 });
    const [, major] = /(?:^|Kustomize Version: )v(\d+)\./m.exec(stdout) ?? [];
    return Number(major) >= 5;
  } catch {
    return false;
  }
}

/** @returns the python3 that can run `-m kubernetes_validate`; undefined if it cannot be installed. */
export function findSchemas(signal: AbortSignal): Promise<string | undefined> {
  return findInVenv(SCHEMAS, { tools: TOOLS, requirements: REQUIREMENTS, signal });
}
