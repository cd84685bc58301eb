/**
 * A step of the Dockerfile: removes from node_modules the files that the running service never reads. These are all fonts
 * but those of s./fonts.ts, with their previews, and what only a developer reads. Licences stay.
 */
import { existsSync, readdirSync, rmSync } from "node:fs";
import { basename, extname, join, resolve } from "node:path";
import { FONT_FILES } from "./fonts.ts";

/** Fonts, their previews and archives; then types, sources and documentation. */
const NEVER_READ = new Set(".ttf .otf .png .zip .ts .mts .cts .map .md".split(" "));
const LICENCE = /licen[cs]e|copying|notice/i;

const used = new Set(FONT_FILES);
for (const file of readdirSync("node_modules", { recursive: true, encoding: "utf8" })) {
  const path = resolve(join("node_modules", file));
  if (NEVER_READ.has(extname(path)) && !LICENCE.test(basename(path)) && !used.has(path)) rmSync(path);
}
const missing = FONT_FILES.filter((file) => !existsSync(file));
if (missing.length > 0) throw new Error(`These fonts are not installed: ${missing.join(", ")}`);
