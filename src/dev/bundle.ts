import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const PROGRAMS = ["main.ts", "admin/main.ts", "pack/typeset-program.ts"];

/**
 * Bundles programs and the packages that they use into a few files, see decisions/2026-11-26-the-build-is-a-bundle.md.
 * @param programs files of `folder`. Each keeps its path in `outdir`; shared code goes to chunks/. Both are as deep as the
 * folders of src/, so `../../` in a module's URL is the same folder in the source and in the bundle.
 * @returns the source files in the bundle.
 */
export async function bundle(outdir: string, programs = PROGRAMS, folder = "src"): Promise<string[]> {
  const output = { outbase: folder, outdir, chunkNames: "chunks/[name]-[hash]", splitting: true };
  const target = { format: "esm", platform: "node", target: "node20.19" } as const;
  const { metafile } = await build({
    entryPoints: programs.map((file) => join(folder, file)),
    bundle: true,
    ...output,
    ...target,
    // White space and comments were a quarter of the bundle. Names stay, for stack traces.
    minifyWhitespace: true,
    lineLimit: 120,
    logLevel: "warning",
    metafile: true,
    mainFields: ["module", "main"], // ES modules: esbuild leaves out what is unused
    external: ["@myriaddreamin/*", "file:*"], // a native library, and what test/mutants inserts
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
  });
  return Object.keys(metafile.inputs);
}

// No top-level await: mocha first tries to load modules as CommonJS.
if (process.argv[1] === fileURLToPath(import.meta.url)) void bundle("dist");
