import { execFile } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** What the compiled code reads from its parent folder, as in the image. */
const NEEDED_AT_RUNTIME = ["package.json", "node_modules", "lua", "src"];

/**
 * Compiles the service and the bench's programs as `npm run build` compiles what is deployed. tsx would be measured too.
 * @param folder an empty folder. `dist` in it gets the JavaScript, in the folders of src/.
 * @returns the path of `dist`.
 */
export async function build(folder: string, signal: AbortSignal): Promise<string> {
  for (const name of NEEDED_AT_RUNTIME) symlinkSync(join(ROOT, name), join(folder, name));
  const dist = join(folder, "dist");
  const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
  const project = fileURLToPath(new URL("tsconfig.json", import.meta.url));
  await promisify(execFile)(process.execPath, [tsc, "--project", project, "--outDir", dist, "--noCheck"], { signal });
  return dist;
}
