import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { deserialize } from "node:v8";
import type { Coding } from "../http/negotiate.ts";

/** A page or an asset. */
export interface Page {
  readonly type: string;
  /** Strong entity tag of the body without encoding, in quotes. */
  readonly tag: string;
  readonly bodies: Readonly<Record<Coding, Buffer>>;
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
  loaded ??= (BUILT === undefined ? render() : read(BUILT)).catch((error: unknown) => {
    loaded = undefined; // so that the next request tries again
    throw error;
  });
  return loaded;
}

async function render(): Promise<Pages> {
  const folder = await mkdtemp(join(tmpdir(), "onboarding-pages-"));
  const file = join(folder, "pages.bin");
  const rendered = promisify(execFile)(process.execPath, [...process.execArgv, RENDERER, file]);
  // If the client left before the service stops, nothing waits for the renderer. It would run on without the service.
  const abandon = () => {
    rendered.child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  };
  process.once("exit", abandon);
  try {
    await rendered;
    return await read(file);
  } finally {
    process.off("exit", abandon);
    await rm(folder, { recursive: true, force: true });
  }
}

async function read(file: string): Promise<Pages> {
  return deserialize(await readFile(file)) as Pages;
}
