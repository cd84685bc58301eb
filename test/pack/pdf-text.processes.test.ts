import { expect } from "chai";
import { useAccount } from "../support/use-service.ts";
import { elements, readStructure } from "./structure.ts";
import { isPdfA, type Paper, readNew } from "./support.ts";

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
    const sentence = (which: string) =>
      new RegExp(
        `This PDF shows ${which}, because no font of this service has (it|them)\\. The full text is in the pack as JSON`,
      );
    const names = ["𓀀 and 𓁹", "again 𓀀", "\uE000", "山﨑"];
    const paper = await paperOf({ name: "Ann 𓀀", documents: names });
    expect(textOf(paper).replaceAll("\n", " ")).to.match(sentence("boxes in place of 3 different characters"));
    expect(paper.pack.candidate.name).to.equal("Ann 𓀀");
    expect(paper.pack.documents.map(({ name }) => name)).to.deep.equal(names);
    const one = textOf(await paperOf({ name: "𓀀𓀀" })).replaceAll("\n", " ");
    expect(one).to.match(sentence("a box in place of 1 character"));
  });

  it("shows a syllable of hundreds of consonants", async () => {
    const rejected = { name: "Passport", state: "rejected", rejection_reason: "क्".repeat(500) };
    expect(textOf(await paperOf({ documents: [rejected] }))).to.contain("Rejected because");
  });
});
