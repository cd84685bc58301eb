import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { ENCODINGS, type Listed, MANIFEST } from "../pages.ts";

export interface Rendered {
  readonly path: string;
  readonly type: string;
  readonly body: string | Uint8Array;
}

/** Quality 11 saves another 5 % and takes ten times as long. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

/** Writes the pages into a folder, each as it is and compressed, with a manifest. site/pages.ts reads them. */
export async function write(folder: string, rendered: readonly Rendered[]): Promise<void> {
  await mkdir(folder, { recursive: true });
  const listed = await Promise.all(rendered.map((page) => writePage(folder, page)));
  await writeFile(join(folder, MANIFEST), JSON.stringify(listed, null, 1));
}

async function writePage(folder: string, { path, type, body }: Rendered): Promise<Listed> {
  const bytes = Buffer.from(body);
  const file = path.replace(/^\//, "").replaceAll("/", "_");
  const bodies = {
    br: await promisify(brotliCompress)(bytes, BROTLI),
    gzip: await promisify(gzip)(bytes, { level: 9 }),
    identity: bytes,
  };
  for (const encoding of Object.keys(bodies) as (keyof typeof bodies)[])
    await writeFile(join(folder, file + ENCODINGS[encoding]), bodies[encoding]);
  const tag = `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 27)}"`;
  return { path, file, type, tag };
}
