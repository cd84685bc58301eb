import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import pLimit from "p-limit";
import { FAMILIES, FONT_FILES } from "./fonts.ts";
import type { Sheet } from "./sheet.ts";

/** Both lie in src/pack, whether this runs from there or from dist/pack. */
const TEMPLATE = readFileSync(new URL("../../src/pack/pack.typ", import.meta.url), "utf8");
const PRESS = new URL("../../src/pack/press.mjs", import.meta.url);

/** Identifies the layout of the PDF in its ETag. */
export const LAYOUT = createHash("sha256").update(TEMPLATE).digest("base64url");

/** Packs that are typeset at once, as a pack of 700 pages takes most of a gigabyte; one core is left to answer everything else. */
const atOnce = pLimit(Math.min(2, Math.max(1, availableParallelism() - 1)));

/**
 * The sheet as PDF. A thread of its own typesets it: that takes from 0.1 s to seconds, in which requests must not wait, and
 * the memory it took goes with the thread. The same sheet gives the same bytes.
 * @throws where the template has a fault, or the process has no memory for it.
 */
export function typeset(sheet: Sheet): Promise<Uint8Array> {
  return atOnce(async () => {
    const press = new Worker(PRESS, {
      execArgv: [],
      workerData: { template: TEMPLATE, sheet: JSON.stringify({ ...sheet, families: FAMILIES }), fonts: FONT_FILES },
    });
    try {
      const [pdf] = (await Promise.race([once(press, "message"), endOf(press)])) as [Uint8Array];
      return pdf;
    } finally {
      await press.terminate();
    }
  });
}

async function endOf(press: Worker): Promise<never> {
  const [code] = (await once(press, "exit")) as [number];
  throw new Error(`The thread that typesets a pack ended with code ${code}.`);
}
