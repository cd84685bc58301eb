import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { OTHER_FOLDERS } from "../suites.ts";

/** Lists the files at and below `paths`, sorted. The paths given and returned are relative to `root`. */
export function filesIn(root: string, ...paths: readonly string[]): string[] {
  return paths
    .flatMap((path) =>
      statSync(join(root, path)).isDirectory()
        ? readdirSync(join(root, path), { recursive: true, encoding: "utf8" }).map((name) => join(path, name))
        : [path],
    )
    .filter((path) => statSync(join(root, path)).isFile())
    .toSorted();
}

/** Lists the files of tests that `npm test` runs. */
export function everyChangeTests(root: string): string[] {
  return filesIn(root, "test").filter(
    (file) => file.endsWith(".test.ts") && !OTHER_FOLDERS.some((folder) => file.startsWith(`${folder}/`)),
  );
}

/** Returns a hash of the files' paths and texts. */
export function hashOf(root: string, files: readonly string[]): string {
  const hash = createHash("sha256");
  for (const file of files)
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update("\0");
  return hash.digest("hex");
}
