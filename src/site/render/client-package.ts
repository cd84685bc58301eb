import { execFile } from "node:child_process";
import { chmod, copyFile, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Rendered } from "./document.ts";

const CLIENT = fileURLToPath(new URL("../../client/", import.meta.url));
const TSC = join(createRequire(import.meta.url).resolve("typescript/package.json"), "../bin/tsc");
const run = promisify(execFile);

/** Packs the typed client as npm does, so that `npm install` takes it from this service. Equal sources give equal bytes. */
export async function clientPackage(): Promise<Rendered> {
  const folder = await mkdtemp(join(tmpdir(), "onboarding-client-"));
  try {
    await run(process.execPath, [TSC, "--project", CLIENT, "--outDir", join(folder, "dist")]);
    for (const name of ["package.json", "README.md", "LICENSE"]) await copyFile(join(CLIENT, name), join(folder, name));
    // Those of a checkout and of tsc depend on the umask.
    for (const file of await readdir(folder, { recursive: true, withFileTypes: true }))
      if (file.isFile()) await chmod(join(file.parentPath, file.name), 0o644);
    const pack = ["pack", "--silent", "--ignore-scripts", "--no-update-notifier"];
    const { stdout } = await run("npm", pack, { cwd: folder });
    const name = stdout.trim();
    return { path: `/docs/client/${name}`, type: "application/gzip", body: await readFile(join(folder, name)) };
  } finally {
    await rm(folder, { recursive: true });
  }
}
