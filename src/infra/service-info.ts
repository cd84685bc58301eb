import { readFileSync } from "node:fs";

/** Returns the name and version in package.json, which is two levels above this module, in src/ as in dist/. */
export function serviceInfo(): { name: string; version: string } {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return JSON.parse(text) as { name: string; version: string };
}
