import { execFile } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Files that the compiled code reads beside itself. */
const NEEDED_AT_RUNTIME = ["package.json", "node_modules", "lua", "src/pack/pack.typ"];

/**
 * Compiles the service and the bench's programs as `npm run build` compiles what is deployed. tsx would be measured too.
 * @param folder an empty folder. It gets the JavaScript, in the folders src and test.
 * @returns the same folder.
 */
export async function build(folder: string, signal: AbortSignal): Promise<string> {
  const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
  const project = fileURLToPath(new URL("tsconfig.json", import.meta.url));
  await promisify(execFile)(process.execPath, [tsc, "--project", project, "--outDir", folder, "--noCheck"], { signal });
  for (const name of NEEDED_AT_RUNTIME) symlinkSync(join(ROOT, name), join(folder, name));
  return folder;
}
