import { extname } from "node:path";
import { transformSync } from "esbuild";
import type { Mutant } from "./mutant.ts";

/** Where a mutant's `before` begins. @throws if it does not occur exactly once: the code has changed since. */
export function placeOf(text: string, { before }: Pick<Mutant, "before">): number {
  const at = text.indexOf(before);
  if (before === "" || at === -1) throw new Error("`before` does not occur: the code has changed, mend the row");
  if (text.indexOf(before, at + 1) !== -1) throw new Error("`before` occurs more than once: make it longer");
  return at;
}

/** Returns the file's text with the change. @throws if `placeOf` does, or if nothing changes. */
export function applied(text: string, mutant: Pick<Mutant, "before" | "after">): string {
  const at = placeOf(text, mutant);
  if (mutant.before === mutant.after) throw new Error("`before` and `after` are the same");
  return text.slice(0, at) + mutant.after + text.slice(at + mutant.before.length);
}

/** Returns why a changed file does not compile; undefined if it does, or if it is not TypeScript. Types are not checked. */
export function whyNotCompiled(file: string, text: string): string | undefined {
  if (extname(file) !== ".ts") return undefined;
  try {
    transformSync(text, { loader: "ts", logLevel: "silent" });
    return undefined;
  } catch (error) {
    return (error as Error).message.split("\n").slice(0, 3).join(" ");
  }
}

/** Returns the line, counted from 1, on which an offset of a text lies. */
export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

/** Returns how many characters of two texts, or how many lines, are equal at the start. */
export function commonStart(a: string | readonly string[], b: string | readonly string[]): number {
  let n = 0;
  while (n < a.length && n < b.length && a[n] === b[n]) n++;
  return n;
}
