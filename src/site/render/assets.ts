import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import type { Rendered } from "./document.ts";

const BROWSER = new URL("../browser/", import.meta.url);

/** The scripts: one entry each. What they share is bundled into each. */
const SCRIPTS = ["docs.ts", "quick-start.ts", "try.ts", "console.ts"];
const STYLES = ["site.css", "try.css", "console.css"];

/** A comment in the bundle of swagger-ui names this file. */
const SWAGGER_LICENCE = "swagger-ui-dist/swagger-ui-es-bundle.js.LICENSE.txt";

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0b5c54"/><path d="M9 17l5 5 9-11" fill="none" stroke="#fff" stroke-width="3.5" stroke-linecap="round" stroke-linejoin="round"/></svg>`;

export async function assets(): Promise<Rendered[]> {
  const bundled = await build({
    entryPoints: [...SCRIPTS, ...STYLES].map((name) => fileURLToPath(new URL(name, BROWSER))),
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    outdir: "/",
    write: false,
    legalComments: "inline",
    logLevel: "silent",
  });
  const made = bundled.outputFiles.map(({ path, contents }) => {
    const name = path.replace(/^.*[\\/]/, "");
    return asset(name, name.endsWith(".css") ? "text/css; charset=utf-8" : "text/javascript; charset=utf-8", contents);
  });
  const licence = await readFile(createRequire(import.meta.url).resolve(SWAGGER_LICENCE), "utf8");
  return [
    ...made,
    asset("swagger-ui-es-bundle.js.LICENSE.txt", "text/plain; charset=utf-8", licence),
    asset("icon.svg", "image/svg+xml", ICON),
  ];
}

export function asset(name: string, type: string, body: string | Uint8Array): Rendered {
  return { path: `/docs/assets/${name}`, type, body };
}
