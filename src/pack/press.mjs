/**
 * The thread that typesets one pack: gets the template, the sheet as JSON and the fonts' files, and answers with the PDF.
 * Plain JavaScript, because threads do not inherit the loader that lets the others be TypeScript.
 */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { NodeCompiler } from "@myriaddreamin/typst-ts-node-compiler";

const { template, sheet, fonts } = workerData;
const folder = resolve("/pack"); // needs not exist: what is read in it is given below

const compiler = NodeCompiler.create({
  workspace: folder,
  fontArgs: [{ fontBlobs: fonts.map((file) => readFileSync(file)) }],
});
compiler.addSource(resolve(folder, "pack.typ"), template);
compiler.mapShadow(resolve(folder, "sheet.json"), Buffer.from(sheet));
const compiled = compiler.compile({ mainFilePath: resolve(folder, "pack.typ") });
if (compiled.result === null)
  throw new Error(`The pack's template: ${JSON.stringify(compiled.takeDiagnostics()?.shortDiagnostics)}`);
const pdf = archival(compiled.result);
compiler.evictCache(0); // the cache is the process's, not this thread's
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is a window's; this is a thread's port
parentPort?.postMessage(new Uint8Array(pdf));

/** PDF/A-2b (ISO 19005-2) where it can be; its rules forbid a character that no font has, which then shows as a box. */
function archival(document) {
  try {
    return compiler.pdf(document, { pdfStandard: "a-2b" });
  } catch {
    return compiler.pdf(document, { pdfStandard: "1.7" });
  }
}
