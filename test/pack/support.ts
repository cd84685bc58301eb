import { buffer } from "node:stream/consumers";
import { getDocumentProxy } from "unpdf";
import { fromBufferPromise } from "yauzl";
import type { Pack } from "../../src/pack/schema.ts";
import type { Client } from "../support/client.ts";

/** An answer with its body as bytes. */
export interface Download {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Downloads the pack in any format. `path` is the pack's path with its query. */
export async function download(client: Client, path: string, headers: Record<string, string> = {}): Promise<Download> {
  const response = await fetch(`${client.url}${path}`, {
    headers: { Authorization: `Bearer ${client.key}`, ...headers },
  });
  return { status: response.status, headers: response.headers, bytes: new Uint8Array(await response.arrayBuffer()) };
}

/** Reads the pack as JSON. */
export async function packOf(client: Client, candidateId: string): Promise<Pack> {
  const { bytes } = await download(client, `/candidates/${candidateId}/pack`);
  return JSON.parse(new TextDecoder().decode(bytes)) as Pack;
}

/** Reads a ZIP through its central directory, and returns its files by path. @throws if a file name is unsafe. */
export async function unzip(bytes: Uint8Array): Promise<Map<string, Buffer>> {
  const zip = await fromBufferPromise(Buffer.from(bytes), {
    lazyEntries: true,
    strictFileNames: true,
    validateEntrySizes: true,
  });
  const files = new Map<string, Buffer>();
  for await (const entry of zip.eachEntry())
    files.set(entry.fileName, await buffer(await zip.openReadStreamPromise(entry)));
  return files;
}

/** The parsed manifest.json of a ZIP. */
export interface Manifest {
  object: string;
  files_complete: boolean;
  files: { document_id: string; path: string | null; size: number; sha256: string; problem: string | null }[];
  pack: Pack;
}

export function manifestIn(files: Map<string, Buffer>): Manifest {
  return JSON.parse(String(files.get("manifest.json"))) as Manifest;
}

/** A piece of text on a page. Position and width are in points. */
export interface Placed {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

export interface Paper {
  readonly info: Record<string, unknown>;
  /** The text of each page. */
  readonly pages: string[];
  readonly placed: Placed[];
}

/** A candidate's pack, as a PDF and as JSON. */
export interface NewPaper extends Paper {
  readonly id: string;
  readonly pack: Pack;
  readonly bytes: Uint8Array;
}

/** Creates a candidate with `fields`, and reads its pack. */
export async function readNew(client: Client, fields: Record<string, unknown>): Promise<NewPaper> {
  const { id } = (await client.post("/candidates", fields)).body;
  const { bytes } = await download(client, `/candidates/${id}/pack?format=pdf`);
  return { id, pack: await packOf(client, id), bytes, ...(await readPdf(bytes)) };
}

/** Whether a PDF says that it is PDF/A-2a. */
export function isPdfA({ bytes }: Pick<NewPaper, "bytes">): boolean {
  const claim = "<pdfaid:part>2</pdfaid:part><pdfaid:conformance>A</pdfaid:conformance>";
  return Buffer.from(bytes).includes(claim);
}

/** Reads the first pages of a PDF, or all, with pdf.js. */
export async function readPdf(bytes: Uint8Array, maxPages = Infinity): Promise<Paper> {
  const pdf = await getDocumentProxy(Uint8Array.from(bytes));
  const { info } = await pdf.getMetadata();
  const pages: string[] = [];
  const placed: Placed[] = [];
  for (let number = 1; number <= Math.min(pdf.numPages, maxPages); number++) {
    const { items } = await (await pdf.getPage(number)).getTextContent();
    const texts = items.flatMap((item) => ("str" in item ? [item] : []));
    pages.push(
      texts
        .map(({ str, hasEOL }) => (hasEOL ? `${str}\n` : str))
        .join("")
        .replaceAll("\u200B", ""),
    );
    placed.push(
      ...texts.map(({ str, transform, width }) => ({
        text: str,
        x: Number(transform[4]),
        y: Number(transform[5]),
        width,
      })),
    );
  }
  await pdf.destroy();
  return { info: info as Record<string, unknown>, pages, placed };
}

/** Returns a document or reference as the pack shows it: without what is planned. */
export function happened<
  Item extends { readonly chase: { readonly attempts: number; readonly last_at: string | null } },
>({ chase: { attempts, last_at }, ...item }: Item) {
  return { ...item, chase: { attempts, last_at } };
}
