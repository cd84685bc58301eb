import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";
import { typeset } from "../../src/pack/typeset.ts";
import { elements, readStructure } from "../pack/structure.ts";
import { readPdf } from "../pack/support.ts";
import { FORBIDDEN, HARD, packOf, SCRIPTS } from "./packs.ts";

const VALIDATOR = fileURLToPath(new URL("Validate.java", import.meta.url));
/** Rules of PDF/UA-1 that say how a file declares it (5, 7.1). A file cannot be declared as PDF/A and PDF/UA at once here. */
const DECLARATIONS = /^(5-1|7\.1-10) /;

describe("the PDF of a pack", function () {
  this.timeout(300_000);
  const texts = Object.entries({ ...SCRIPTS, ...HARD, ...FORBIDDEN });
  let folder: string;
  let asPdfA: Map<string, string[]>;
  let asPdfUa: Map<string, string[]>;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "onboarding-pdf-"));
    for (const [name, text] of texts) {
      const reader = { accountId: "acct_1", left: new AbortController().signal };
      await writeFile(fileOf(name), await typeset(Buffer.from(JSON.stringify(packOf(text))), reader));
    }
    asPdfA = await brokenRules("2a");
    asPdfUa = await brokenRules("ua1");
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const fileOf = (name: string) => join(folder, `${name}.pdf`);

  /** Validates all files in one process: to start veraPDF takes longer than to validate a file. */
  async function brokenRules(flavour: string): Promise<Map<string, string[]>> {
    const classPath = join(process.env["VERAPDF_JARS"] ?? "", "*");
    const files = texts.map(([name]) => fileOf(name));
    const { stdout } = await promisify(execFile)("java", ["-cp", classPath, VALIDATOR, flavour, ...files], {
      maxBuffer: 64 * 1024 * 1024,
    });
    return new Map(Object.entries(JSON.parse(stdout) as Record<string, string[]>));
  }

  for (const name of Object.keys({ ...SCRIPTS, ...HARD })) {
    it(`is PDF/A-2a, and keeps the rules of PDF/UA-1, with ${name}`, () => {
      expect(asPdfA.get(fileOf(name))).to.deep.equal([]);
      expect(asPdfUa.get(fileOf(name))?.filter((rule) => !DECLARATIONS.test(rule))).to.deep.equal([]);
    });
  }

  for (const name of Object.keys(FORBIDDEN)) {
    it(`is not PDF/A with ${name}`, () => {
      expect(asPdfA.get(fileOf(name))).not.to.deep.equal([]);
    });
  }

  for (const [name, text] of texts) {
    it(`has headings in order, header cells, a language and a title with ${name}`, async () => {
      const bytes = await readFile(fileOf(name));
      const pages = await readStructure(bytes);
      const roles = elements(pages, "H1", "H2", "H3", "H4", "H5", "H6").map(({ role }) => role);
      expect(roles.join(" ")).to.equal("H1 H2 H2 H3 H3 H3 H2 H3 H3");
      const tables = elements(pages, "Table");
      expect(tables).to.have.length(2 + 3 + 2 * 2 + 1); // the candidate, documents, references, and answers
      for (const table of tables) {
        const [head, ...rows] = elements([table], "TR");
        expect(head?.inside.every(({ role, text: label }) => role === "TH" && label !== "")).to.equal(true);
        for (const row of rows) {
          // The heading of the answers is one cell above their two columns.
          const columns = head?.inside.length === 1 ? [head, head] : head?.inside;
          expect(row.inside.map(({ role }) => role)).to.deep.equal(columns?.map(() => "TD"));
        }
      }
      const { info } = await readPdf(bytes);
      expect(info, text).to.include({ Language: "en", Title: "Compliance pack cand_1, version 1" });
    });
  }
});
