/**
 * A step of the Dockerfile: removes from node_modules what the running service never reads. Licences and package.json stay.
 */
import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { basename, extname, join, resolve } from "node:path";
import { filesOf, FONTS } from "./fonts.ts";

/** Fonts, their previews and archives; types, sources and documentation; code that is in the bundle. */
const NEVER_READ = new Set(".ttf .otf .png .zip .ts .mts .cts .map .md .js .cjs .mjs".split(" "));
const NOT_IN_BUNDLE = /^@(myriaddreamin|embedpdf|expo-google-fonts)\/.*\.[cm]?js$/;
const TESTS = /\/test\//;
const LICENCE = /licen[cs]e|copying|notice/i;

const fonts = filesOf(FONTS);
const used = new Set(fonts);
for (const entry of readdirSync("node_modules", { recursive: true, encoding: "utf8" })) {
  const path = resolve(join("node_modules", entry));
  const stays = used.has(path) || LICENCE.test(basename(path)) || NOT_IN_BUNDLE.test(entry);
  if ((NEVER_READ.has(extname(path)) || TESTS.test(entry)) && !stays && statSync(path).isFile()) rmSync(path);
}
const missing = fonts.filter((file) => !existsSync(file));
if (missing.length > 0) throw new Error(`These fonts are not installed: ${missing.join(", ")}`);
