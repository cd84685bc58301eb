import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import pLimit from "p-limit";
import { FAMILIES, FONT_FILES } from "./fonts.ts";
import type { Sheet } from "./sheet.ts";

/** The template and the worker stay in src/pack, whether this file runs from src/pack or from dist/pack. */
const TEMPLATE = readFileSync(new URL("../../src/pack/pack.typ", import.meta.url), "utf8");
const WORKER = new URL("../../src/pack/press.mjs", import.meta.url);

/** Identifies the layout of the PDF in its ETag. */
export const LAYOUT = createHash("sha256").update(TEMPLATE).digest("base64url");

/**
 * Limits how many packs are typeset at once: a pack of 700 pages takes most of a gigabyte. One core stays free for
 * other requests.
 */
const limitConcurrency = pLimit(Math.min(2, Math.max(1, availableParallelism() - 1)));

/**
 * Typesets the sheet as a PDF, in a worker thread. That takes from 0.1 s to several seconds, and other requests must
 * not wait meanwhile. The memory is freed with the thread. The same sheet gives the same bytes.
 * @throws if the template has an error, or if memory runs out.
 */
export function typeset(sheet: Sheet): Promise<Uint8Array> {
  return limitConcurrency(async () => {
    const worker = new Worker(WORKER, {
      execArgv: [],
      workerData: { template: TEMPLATE, sheet: JSON.stringify({ ...sheet, families: FAMILIES }), fonts: FONT_FILES },
    });
    try {
      const [pdf] = (await Promise.race([once(worker, "message"), exitOf(worker)])) as [Uint8Array];
      return pdf;
    } finally {
      await worker.terminate();
    }
  });
}

/** Rejects when the worker exits. */
async function exitOf(worker: Worker): Promise<never> {
  const [code] = (await once(worker, "exit")) as [number];
  throw new Error(`The thread that typesets a pack ended with code ${code}.`);
}
