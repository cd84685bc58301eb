/**
 * The program that typesets one pack, in a process of its own. It reads the pack as JSON from its standard input, and
 * writes the PDF to its standard output. It needs no setting and no network.
 */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { json } from "node:stream/consumers";
import { NodeCompiler, PdfStandard } from "@myriaddreamin/typst-ts-node-compiler";
import { FAMILIES, FONT_FILES } from "./fonts.ts";
import type { Pack } from "./schema.ts";
import { sheetOf } from "./sheet.ts";
import { TEMPLATE_FILE } from "./template.ts";

const FOLDER = resolve("/pack"); // need not exist: its files are supplied below
const MAIN_FILE = resolve(FOLDER, "pack.typ");

function pdfOf(pack: Pack): Buffer {
  const compiler = NodeCompiler.create({ workspace: FOLDER, fontArgs: [{ fontPaths: [...FONT_FILES] }] });
  compiler.addSource(MAIN_FILE, readFileSync(TEMPLATE_FILE, "utf8"));
  const sheet = JSON.stringify({ ...sheetOf(pack), families: FAMILIES });
  compiler.mapShadow(resolve(FOLDER, "sheet.json"), Buffer.from(sheet));
  const compiled = compiler.compile({ mainFilePath: MAIN_FILE });
  if (compiled.result === null)
    throw new Error(`The pack's template: ${JSON.stringify(compiled.takeDiagnostics()?.shortDiagnostics)}`);
  // PDF/A-2a (ISO 19005-2) if possible. It forbids characters that no font has, and those for private use. PDF 1.7 shows
  // them as boxes; it is tagged too.
  try {
    return compiler.pdf(compiled.result, { pdfStandard: PdfStandard.A_2a });
  } catch {
    return compiler.pdf(compiled.result, { pdfStandard: PdfStandard.V_1_7 });
  }
}

process.on("SIGINT", () => undefined); // Ctrl-C reaches the whole group. The service still answers what it has begun.
process.stdout.end(pdfOf((await json(process.stdin)) as Pack));
