import { buffer } from "node:stream/consumers";
import { getDocumentProxy } from "unpdf";
import { fromBufferPromise } from "yauzl";
import type { Pack } from "../../src/pack/schema.ts";
import type { Client } from "../support/client.ts";

/** An answer whose body may be anything. */
export interface Download {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Reads the pack in whatever form, as bytes. `path` is the candidate's. */
export async function download(client: Client, path: string, headers: Record<string, string> = {}): Promise<Download> {
  const response = await fetch(`${client.url}${path}`, {
    headers: { Authorization: `Bearer ${client.key}`, ...headers },
  });
  return { status: response.status, headers: response.headers, bytes: new Uint8Array(await response.arrayBuffer()) };
}

/** The pack as JSON. */
export async function packOf(client: Client, candidateId: string): Promise<Pack> {
  const { bytes } = await download(client, `/candidates/${candidateId}/pack`);
  return JSON.parse(new TextDecoder().decode(bytes)) as Pack;
}

/** Opens a ZIP as its readers do, by its central directory, and refuses names that are not sound: path to bytes. */
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

/** The manifest of a ZIP. */
export interface Manifest {
  object: string;
  files_complete: boolean;
  files: { document_id: string; path: string | null; size: number; sha256: string; problem: string | null }[];
  pack: Pack;
}

export function manifestIn(files: Map<string, Buffer>): Manifest {
  return JSON.parse(String(files.get("manifest.json"))) as Manifest;
}

/** A piece of text on a page: where it begins and how wide it is, in points. */
export interface Placed {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

export interface Paper {
  readonly info: Record<string, unknown>;
  /** The text of each page, lines run together. */
  readonly pages: string[];
  readonly placed: Placed[];
}

/** Reads a PDF as pdf.js does. */
export async function readPdf(bytes: Uint8Array): Promise<Paper> {
  const pdf = await getDocumentProxy(bytes.slice());
  const { info } = await pdf.getMetadata();
  const pages: string[] = [];
  const placed: Placed[] = [];
  for (let number = 1; number <= pdf.numPages; number++) {
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
