import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { deserialize } from "node:v8";
import type { Coding } from "../http/negotiate.ts";

/** A page or an asset. */
export interface Page {
  readonly type: string;
  /** Strong entity tag of the body without encoding, in quotes. */
  readonly tag: string;
  /** Only `identity` if the file is compressed already. */
  readonly bodies: { readonly identity: Buffer } & { readonly [coding in Coding]?: Buffer };
}

/** All pages by the path of their URL. */
export type Pages = ReadonlyMap<string, Page>;

/** The path under which the page for unknown paths is kept. It is no path of a URL. */
export const NOT_FOUND = "not-found";

/** The pages that `npm run build` made. Undefined if this file is not compiled: then there is no build. */
const BUILT = extname(import.meta.url) === ".js" ? fileURLToPath(new URL("../pages.bin", import.meta.url)) : undefined;

const RENDERER = fileURLToPath(new URL("render/main.ts", import.meta.url));

let loaded: Promise<Pages> | undefined;

/**
 * Returns all pages, from memory after the first call. A compiled service reads what the build made. Otherwise a process of
 * its own renders them, in about 3 s, because rendering would hold the event loop.
 */
export function pages(): Promise<Pages> {
  loaded ??= (BUILT === undefined ? render() : readFile(BUILT).then(deserialize)).catch((error: unknown) => {
    loaded = undefined; // so that the next request tries again
    throw error;
  });
  return loaded;
}

async function render(): Promise<Pages> {
  const args = [...process.execArgv, RENDERER];
  const { stdout } = await promisify(execFile)(process.execPath, args, { encoding: "buffer", maxBuffer: Infinity });
  return deserialize(stdout) as Pages;
}
