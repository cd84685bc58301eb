import { readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundle } from "../../src/dev/bundle.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const PROGRAMS = "test/bench/programs";

/** What the bundle reads from its parent folder, or finds there. */
const NEEDED_AT_RUNTIME = ["package.json", "node_modules", "lua", "src"];

/**
 * Bundles the service and the bench's programs as `npm run build` bundles what is deployed. tsx would be measured too.
 * @param folder an empty folder.
 * @returns the folder in it that holds the JavaScript, in the folders src and test.
 */
export async function build(folder: string): Promise<string> {
  for (const name of NEEDED_AT_RUNTIME) symlinkSync(join(ROOT, name), join(folder, name));
  const dist = join(folder, "dist");
  const programs = readdirSync(join(ROOT, PROGRAMS)).filter((file) => !file.endsWith(".d.ts"));
  await bundle(dist, ["src/main.ts", ...programs.map((file) => `${PROGRAMS}/${file}`)], ROOT);
  return dist;
}
