/**
 * The worker thread that typesets one pack. Receives the template, the sheet as JSON and the paths of the fonts, and
 * posts the PDF. It is plain JavaScript because worker threads do not inherit the loader that runs TypeScript.
 */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { NodeCompiler } from "@myriaddreamin/typst-ts-node-compiler";

const { template, sheet, fonts } = workerData;
const folder = resolve("/pack"); // need not exist: its files are supplied below

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
compiler.evictCache(0); // the cache belongs to the process and would outlive this thread
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- only windows have a target origin
parentPort?.postMessage(new Uint8Array(pdf));

/** Returns PDF/A-2b (ISO 19005-2) if possible. It forbids characters that no font has; PDF 1.7 shows them as boxes. */
function archival(document) {
  try {
    return compiler.pdf(document, { pdfStandard: "a-2b" });
  } catch {
    return compiler.pdf(document, { pdfStandard: "1.7" });
  }
}
