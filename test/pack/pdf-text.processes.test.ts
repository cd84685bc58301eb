import { expect } from "chai";
import { useAccount } from "../support/use-service.ts";
import { elements, readStructure } from "./structure.ts";
import { download, isPdfA, type Paper, readNew, readPdf } from "./support.ts";

const A4_WIDTH = 595;
const MARGIN = 20 * (72 / 25.4);

describe("client text in the pack as a PDF", function () {
  this.timeout(60_000);
  const { client } = useAccount();
  const paperOf = (fields: Record<string, unknown>) => readNew(client, fields);

  /** Returns the text of all pages. */
  const textOf = ({ pages }: Paper) => pages.join("\n");

  it("keeps words of any length within the margins", async () => {
    const long = [
      "W".repeat(500),
      "ш".repeat(500),
      "ممتاز".repeat(100),
      "शब्द".repeat(125),
      "山".repeat(500),
      "😀".repeat(500),
      "a".repeat(64) + "@example.com",
    ];
    const { placed } = await paperOf({ name: "N".repeat(200), documents: long });
    for (const { text, x, width } of placed) {
      expect(x, text).to.be.greaterThan(MARGIN - 1);
      expect(x + width, text).to.be.lessThan(A4_WIDTH - MARGIN + 2);
    }
  });

  it("prints markup and control characters in client text without interpreting them", async () => {
    const paper = await paperOf({
      name: "*bold* #panic(1) $x$ \\ _i_ <a> @ref //",
      documents: ["a\u0000\u001b[31m\u0007b", "\u202Egnp.exe", "no\u2028such \uE000 glyph 𓀀", '#read("/etc/passwd")'],
    });
    const text = textOf(paper);
    expect(text).to.contain("*bold* #panic(1) $x$ \\ _i_ <a> @ref //");
    expect(text)
      .to.contain("a\uFFFD\uFFFD[31m\uFFFDb")
      .and.to.contain("\uFFFDgnp.exe")
      .and.to.contain('#read("/etc/passwd")');
    expect(paper.pages).to.have.length(1);
    expect(isPdfA(paper), "PDF/A, which allows no character without a glyph").to.equal(false);
    expect(elements(await readStructure(paper.bytes), "H3")).to.have.length(4);
  });

  it("says how many characters no font has, and the JSON has them", async () => {
    const sentence = (count: number) =>
      `this PDF shows as boxes, because no font of this service has them: ${count}. The full text is in the pack as JSON`;
    const names = ["𓀀 and 𓁹", "again 𓀀", "\uE000", "山﨑"];
    const paper = await paperOf({ name: "Ann 𓀀", documents: names });
    expect(textOf(paper).replaceAll("\n", " ")).to.contain(sentence(3));
    expect(paper.pack.candidate.name).to.equal("Ann 𓀀");
    expect(paper.pack.documents.map(({ name }) => name)).to.deep.equal(names);
    const one = textOf(await paperOf({ name: "𓀀𓀀" })).replaceAll("\n", " ");
    expect(one).to.contain(sentence(1));
  });

  const LANGUAGES = [
    ["de-AT", "de", "Das Dokument „Pass“ wurde nicht akzeptiert: Unscharf", "30.09.2031", "3 Byte", "Seite 1/1"],
    ["fr", "fr", "Le document « Pass » n’a pas été accepté : Unscharf", "30 sept. 2031", "3 octets", "Références (1)"],
    ["es-MX", "es", "No se ha aceptado el documento «Pass»: Unscharf", "30 sept 2031", "3 bytes", "Página 1/1"],
    ["NL", "nl", "Het document “Pass” is niet geaccepteerd: Unscharf", "30 sep 2031", "3 byte", "Referenties (1)"],
    ["ja", "en", "Document “Pass” was rejected: Unscharf", "30 Sept 2031", "3 bytes", "Page 1/1"],
  ] as const;
  it("is in the assistant's language, which the ETag covers: English without a translation", async () => {
    const tags = new Set<string | null>();
    const content = { filename: "p.txt", data: "QUJD" };
    const rejected = { name: "Pass", state: "rejected", expires_on: "2031-09-30", rejection_reason: "Unscharf" };
    const fields = {
      name: "محمد שלום 山田",
      documents: [{ ...rejected, content }],
      references: [{ email: "a@example.com" }],
    };
    const { id } = (await client.post("/candidates", fields)).body;
    await client.post(`/candidates/${id}/start`);
    for (const [language, printed, missing, ...facts] of LANGUAGES) {
      await client.patch("/settings/assistant", { language });
      const { bytes, headers } = await download(client, `/candidates/${id}/pack?format=pdf`);
      const paper = await readPdf(bytes);
      const text = textOf(paper).replace(/\s/g, " ");
      for (const fact of [missing, ...facts, "山田"]) expect(text).to.contain(fact);
      expect(text.match(new RegExp(missing.slice(0, -8), "g")), "what is missing, and the reason").to.have.length(2);
      if (printed !== "en") expect(text).not.to.match(/\b(Required|Last|has|have|and|not|Answered)\b/);
      expect(paper.info).to.include({ Language: printed });
      expect(isPdfA({ bytes }), language).to.equal(true);
      const json = await client.get(`/candidates/${id}/pack`);
      expect(json.body).to.include({ language: printed, pack_version: 2 });
      for (const tag of [headers, json.headers]) tags.add(tag.get("etag"));
    }
    expect(tags.size).to.equal(2 * LANGUAGES.length);
  });

  it("shows a syllable of hundreds of consonants", async () => {
    const rejected = { name: "Passport", state: "rejected", rejection_reason: "क्".repeat(500) };
    expect(textOf(await paperOf({ documents: [rejected] }))).to.contain("Rejected because");
  });
});
