import { mkdtempSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundle } from "../../src/dev/bundle.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** Files that the compiled code reads from its parent folder, as in the Docker image. */
const NEEDED_AT_RUNTIME = ["package.json", "node_modules", "lua", "src"];
/** What is deployed, and a module that tests import alone. */
const PROGRAMS = ["main.ts", "admin/main.ts", "pack/typeset-program.ts", "infra/log.ts"];

let compiling: Promise<string> | undefined;

/**
 * Bundles src/ as the Docker image does, once in each process that runs tests. A bundled service starts in a fifth of the
 * CPU time that it needs with tsx. The output is removed with the temporary folder of the test run.
 * @param entry a file of src/, one of PROGRAMS.
 * @returns the path of the JavaScript that it compiles to.
 */
export async function compiled(entry: string): Promise<string> {
  return join(await (compiling ??= compile()), entry.replace(/\.ts$/, ".js"));
}

async function compile(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "onboarding-compiled-"));
  for (const name of NEEDED_AT_RUNTIME) symlinkSync(join(ROOT, name), join(folder, name));
  const dist = join(folder, "dist");
  await bundle(dist, PROGRAMS, join(ROOT, "src"));
  return dist;
}
