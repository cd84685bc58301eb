import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** How a body can be sent. The extension of the file that holds it, after the file's own name. */
export const ENCODINGS = { br: ".br", gzip: ".gz", identity: "" } as const;
export type Encoding = keyof typeof ENCODINGS;

/** One page or asset, as the renderer lists it in MANIFEST. */
export interface Listed {
  /** Path of the URL, for example /docs/limits. */
  readonly path: string;
  /** Name of the file that holds the body. */
  readonly file: string;
  readonly type: string;
  /** Strong entity tag of the body without encoding, in quotes. */
  readonly tag: string;
}

/** The file that lists all others, as JSON. */
export const MANIFEST = "manifest.json";

/** The path under which the page for unknown paths is kept. It is no path of a URL. */
export const NOT_FOUND = "not-found";

export interface Page extends Listed {
  readonly bodies: Readonly<Record<Encoding, Buffer>>;
}

export type Pages = ReadonlyMap<string, Page>;

/** The folder of the pages that `npm run build` made. Undefined if this file is not compiled: then there is no build. */
const BUILT = extname(import.meta.url) === ".js" ? fileURLToPath(new URL("../pages", import.meta.url)) : undefined;

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
  const rendered = promisify(execFile)(process.execPath, [...process.execArgv, RENDERER, folder]);
  // If the client left before the service stops, nothing waits for the renderer. It would run on without the service.
  const abandon = () => {
    rendered.child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  };
  process.once("exit", abandon);
  try {
    await rendered;
    return await read(folder);
  } finally {
    process.off("exit", abandon);
    await rm(folder, { recursive: true, force: true });
  }
}

async function read(folder: string): Promise<Pages> {
  const listed = JSON.parse(await readFile(join(folder, MANIFEST), "utf8")) as Listed[];
  const bodyOf = (file: string, encoding: Encoding) => readFile(join(folder, file + ENCODINGS[encoding]));
  const entries = listed.map(async (page) => {
    const [br, gzip, identity] = await Promise.all([
      bodyOf(page.file, "br"),
      bodyOf(page.file, "gzip"),
      bodyOf(page.file, "identity"),
    ]);
    return [page.path, { ...page, bodies: { br, gzip, identity } }] as const;
  });
  return new Map(await Promise.all(entries));
}
