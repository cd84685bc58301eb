/**
 * Renders /docs and /console into the file that its argument names. `npm run build` runs it; a service that is not compiled
 * runs it at the first request for a page.
 */
import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { promisify } from "node:util";
import { serialize } from "node:v8";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { Page, Pages } from "../pages.ts";
import type { Rendered } from "./document.ts";
import { site } from "./site.ts";

/** Quality 11 saves another 5 % and takes ten times as long. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

async function compressed({ path, type, body }: Rendered): Promise<[path: string, page: Page]> {
  const identity = Buffer.from(body);
  const br = await promisify(brotliCompress)(identity, BROTLI);
  const bodies = { br, gzip: await promisify(gzip)(identity, { level: 9 }), identity };
  const tag = `"${createHash("sha256").update(identity).digest("base64url").slice(0, 27)}"`;
  return [path, { type, tag, bodies }];
}

const [file] = process.argv.slice(2);
if (file === undefined) throw new Error("Name the file to render into.");
const rendered: Pages = new Map(await Promise.all((await site()).map(compressed)));
await writeFile(file, serialize(rendered));
