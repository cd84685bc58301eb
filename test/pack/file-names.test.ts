import { expect } from "chai";
import fc from "fast-check";
import type { DocumentRecord } from "../../src/candidates/record.ts";
import { nameFiles } from "../../src/pack/file-names.ts";
import { contentRecord, documentRecord } from "../support/records.ts";

function document(
  name: string,
  filename: string | null = null,
  content_type = "application/octet-stream",
): DocumentRecord {
  return documentRecord({ name, state: "received", content: contentRecord({ filename, content_type }) });
}

const nameOf = (...given: Parameters<typeof document>) => nameFiles([document(...given)])[0]?.path;

describe("the file names in a ZIP", () => {
  const NAMED: [name: string, filename: string | null, type: string, path: string][] = [
    ["Passport", "scan.PDF", "application/octet-stream", "documents/001 Passport.pdf"],
    ["Passport", null, "image/jpeg", "documents/001 Passport.jpg"],
    ["Passport", null, "x/unknown", "documents/001 Passport"],
    ["Passport.PDF", "x.pdf", "application/pdf", "documents/001 Passport.pdf"],
    [".pdf", "x.pdf", "application/pdf", "documents/001 document.pdf"],
    ["pdf", "x.pdf", "application/pdf", "documents/001 pdf.pdf"],
    ["a", ".pdf", "x", "documents/001 a"],
    ["a", "x.7z", "image/jpeg", "documents/001 a.7z.bin"],
    ["a", "x.abcdefghij", "x", "documents/001 a.abcdefghij.bin"],
    ["a", "x.abcdefghijk", "image/png", "documents/001 a.png"],
    ["a", "x.p-f", "image/png", "documents/001 a.png"],
    ["a. b..c .. ", null, "x", "documents/001 a. b..c.bin"],
    ["a \n\t b", null, "x", "documents/001 a b"],
    ["a<>b|c", null, "x", "documents/001 a_b_c"],
    ["e\u0301", null, "x", "documents/001 é"],
    ["a\u200Bb\uFEFFc\u2066d\uFFFEe", null, "x", "documents/001 a_b c_d_e"],
    ["x".repeat(120), null, "x", `documents/001 ${"x".repeat(120)}`],
    ["x".repeat(121), "x.pdf", "x", `documents/001 ${"x".repeat(120)}.pdf`],
    [`${"x".repeat(119)}é`, null, "x", `documents/001 ${"x".repeat(119)}`],
    ["Passport", null, "application/octet-stream", "documents/001 Passport"],
    ["passport.pdf", "x.pdf", "application/pdf", "documents/001 passport.pdf"],
    ["山田 履歴書", "履歴書.docx", "text/plain", "documents/001 山田 履歴書.docx"],
    ["../../etc/passwd", null, "text/plain", "documents/001 .._.._etc_passwd.txt"],
    ["COM1. . .", null, "text/plain", "documents/001 COM1.txt"],
    [" \t ", null, "x", "documents/001 document"],
    ["\u202Egpj.exe", null, "x", "documents/001 _gpj.exe.bin"],
    ["👩‍👩‍👧 family", null, "x", "documents/001 👩‍👩‍👧 family"],
    ["a", "evil.name.with/slash.p/f", "x", "documents/001 a"],
  ];
  for (const [name, filename, type, path] of NAMED) {
    it(`include ${JSON.stringify(path.slice(0, 40))} for a document named ${JSON.stringify(name.slice(0, 40))} (${filename ?? type})`, () => {
      expect(nameOf(name, filename, type)).to.equal(path);
    });
  }

  it("are numbered by the place of the document, also after documents without content", () => {
    const documents = [{ ...document("a"), content: null }, document("b", "b.txt"), { ...document("c"), id: "doc_3" }];
    expect(nameFiles(documents)).to.deep.equal([
      { path: "documents/002 b.txt", document_id: "doc_1", content: documents[1]?.content },
      { path: "documents/003 c", document_id: "doc_3", content: documents[2]?.content },
    ]);
  });

  it("are truncated between grapheme clusters", () => {
    const path = nameOf("👩‍👩‍👧".repeat(100)) ?? "";
    expect(path).to.match(/^documents\/001 (👩‍👩‍👧)+$/u);
    expect(Buffer.byteLength(path)).to.be.lessThan(200);
  });

  it("are valid on every file system, and stay distinct after case folding and Unicode normalisation", () => {
    const text = fc.string({ unit: "binary", minLength: 1, maxLength: 300 });
    const hostile = fc.constantFrom(
      "CON",
      "nul",
      "..",
      ".",
      "a/b",
      "A",
      "a",
      "é",
      "e\u0301",
      "x. ",
      "\u0000",
      "İ",
      "ß",
      "SS",
    );
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.oneof(text, hostile), fc.option(fc.oneof(text, hostile))), { maxLength: 20 }),
        (given) => {
          const paths = nameFiles(given.map(([name, filename]) => document(name, filename))).map(({ path }) => path);
          for (const path of paths) {
            const [folder, file = "", ...more] = path.split("/");
            expect([folder, more]).to.deep.equal(["documents", []]);
            expect(file).to.match(/^\d{3} [^\p{Cc}\p{Bidi_Control}"*/:<>?\\|]*[^\p{Cc}"*/:<>?\\|. ]$/u);
            expect(Buffer.byteLength(file)).to.be.at.most(255);
            expect(file.normalize("NFC")).to.equal(file);
          }
          const folded = paths.map((path) => path.normalize("NFKD").toUpperCase().toLowerCase());
          expect(new Set(folded).size).to.equal(given.length);
        },
      ),
      { numRuns: 50 },
    );
  });
});
