/**
 * The program that typesets one pack, in a process of its own. It reads the pack as JSON from its standard input, and
 * writes the PDF to its standard output. It needs no setting and no network.
 */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { json } from "node:stream/consumers";
import { setImmediate } from "node:timers/promises";
import { NodeCompiler, PdfStandard } from "@myriaddreamin/typst-ts-node-compiler";
import { filesOf, fontsFor } from "./fonts.ts";
import type { Pack } from "./schema.ts";
import { type Sheet, sheetOf, unprinted } from "./sheet.ts";
import { TEMPLATE_FILE } from "./template.ts";

const FOLDER = resolve("/pack"); // need not exist: its files are supplied below
const MAIN_FILE = resolve(FOLDER, "pack.typ");

/** What PDF/A-2a (ISO 19005-2) forbids: text that no font has, such as a character for private use. */
const WITHOUT_GLYPH = /the text `(.+?)` could not be displayed/g;

async function pdfOf(sheet: Sheet): Promise<Buffer> {
  const text = JSON.stringify(sheet);
  const fonts = fontsFor(text);
  const compiler = NodeCompiler.create({ workspace: FOLDER, fontArgs: [{ fontPaths: filesOf(fonts) }] });
  const supply = (name: string, content: string) => compiler.mapShadow(resolve(FOLDER, name), Buffer.from(content));
  compiler.addSource(MAIN_FILE, readFileSync(TEMPLATE_FILE, "utf8"));
  supply("families.json", JSON.stringify(fonts.map(({ family }) => family)));
  supply("sheet.json", text);
  try {
    return print(compiler, PdfStandard.A_2a);
  } catch (error) {
    const missing = new Set(Array.from(String(error).matchAll(WITHOUT_GLYPH), ([, characters]) => characters));
    if (missing.size > 0)
      supply("sheet.json", JSON.stringify({ ...sheet, notices: [...sheet.notices, unprinted(sheet, missing.size)] }));
    // Free the first attempt's memory: nearly all of it is needed again. What `gc` finds is freed in the next turn.
    compiler.evictCache(0);
    globalThis.gc?.();
    await setImmediate();
    return print(compiler, PdfStandard.V_1_7); // it shows a box, and is tagged too
  }
}

/** @throws if the template is wrong, or the standard forbids something in the text. */
function print(compiler: NodeCompiler, pdfStandard: PdfStandard): Buffer {
  const compiled = compiler.compile({ mainFilePath: MAIN_FILE });
  if (compiled.result !== null) return compiler.pdf(compiled.result, { pdfStandard });
  throw new Error(`The pack's template: ${JSON.stringify(compiled.takeDiagnostics()?.shortDiagnostics)}`);
}

process.on("SIGINT", () => undefined); // Ctrl-C reaches the whole group. The service still finishes the requests it has begun.
process.stdout.end(await pdfOf(sheetOf((await json(process.stdin)) as Pack)));
