import { expect } from "chai";
import { typeset } from "../../src/pack/typeset.ts";
import { useAccount } from "../support/use-service.ts";
import { elements, readStructure } from "./structure.ts";
import { download, isPdfA, packOf, type Paper, readNew, readPdf } from "./support.ts";

describe("the pack as a PDF", function () {
  this.timeout(60_000);
  const account = useAccount();
  const { client } = account;

  const paperOf = (fields: Record<string, unknown>) => readNew(client, fields);

  /** Returns the text of all pages. */
  const textOf = ({ pages }: Paper) => pages.join("\n");

  it("shows the candidate, the documents, the references and the account it was made for", async () => {
    const content = {
      filename: "scan.pdf",
      content_type: "application/pdf",
      data: Buffer.alloc(1500).toString("base64"),
    };
    const paper = await paperOf({
      name: "Zoë Ångström",
      email: "zoe@example.com",
      external_id: "ats-7",
      documents: [
        { name: "Passport", content },
        { name: "Licence", required: false },
      ],
      references: [{ name: "Ann Other", company: "St Mary’s" }],
    });
    const text = textOf(paper);
    const [passport, licence] = paper.pack.documents;
    const sha256 = passport?.content?.sha256 ?? "";
    expect(sha256).to.have.length(64);
    for (const fact of [
      "Zoë Ångström",
      "zoe@example.com",
      "ats-7",
      paper.id,
      account.id,
      "Not complete",
      "Documents (2)",
      "References (1)",
    ])
      expect(text).to.contain(fact);
    for (const fact of [
      "Passport",
      "Received",
      "1.5 kB (1,500 bytes)",
      sha256,
      "scan.pdf",
      passport?.id,
      "Licence",
      "Pending",
      "No file",
      licence?.id,
    ])
      expect(text).to.contain(fact);
    for (const fact of [
      "Ann Other",
      "St Mary’s",
      "Not requested",
      "1 required, 0 received, 1 outstanding",
      "Zoë Ångström has not been started",
      "Document “Passport” has arrived and is to be reviewed",
    ])
      expect(text).to.contain(fact);
    expect(text).to.match(/Made\s+\d+ \w+ \d{4}, \d\d:\d\d:\d\d\sUTC/);
    expect(paper.info).to.include({ Language: "en", Title: `Compliance pack ${paper.id}, version 1` });
  });

  it("shows a reference's answers at any depth of nesting", async () => {
    const { id } = (await client.post("/candidates", { references: [{ name: "Ann", email: "a@example.com" }] })).body;
    await client.post(`/candidates/${id}/start`);
    const [reference] = (await packOf(client, id)).references;
    const response = {
      "Employ again?": true,
      notes: { dates: ["2019", 2024] },
      none: [],
      long: "line one\nline two",
      deep: { a: { b: { c: { d: { e: { f: 1 } } } } } },
    };
    await client.patch(`/references/${reference?.id}`, { state: "received", response });
    const text = textOf(await readPdf((await download(client, `/candidates/${id}/pack?format=pdf`)).bytes));
    expect(text)
      .to.match(/Employ again\?\s+Yes/)
      .and.to.match(/notes › dates › 2\s+2024/)
      .and.to.match(/line one\n\s*line two/);
    expect(text).to.match(/deep › a › b › c › d › e\s+{"f":1}/);
    expect(text)
      .to.match(/Complete/)
      .and.to.contain("Nothing: every required document");
  });

  it("can be read aloud: it has headings, tables with header cells, and lists", async () => {
    const { bytes, info } = await paperOf({
      name: "Zoë Ångström",
      documents: [{ name: "Passport", required: false }],
      references: [{ name: "Ann Other", company: "St Mary’s" }],
    });
    const pages = await readStructure(bytes);
    const headings = elements(pages, "H1", "H2", "H3", "H4").map(({ role, text }) => `${role} ${text}`);
    expect(headings).to.deep.equal([
      "H1 Zoë Ångström",
      "H2 What is missing",
      "H2 Documents (1)",
      "H3 Passport",
      "H2 References (1)",
      "H3 Ann Other",
    ]);
    const tables = elements(pages, "Table").map((table) =>
      elements([table], "TR").map((row) => row.inside.map(({ role, text }) => `${role} ${text}`)),
    );
    expect(tables).to.deep.include([
      ["TH Required", "TH Valid until", "TH Uploaded", "TH Size"],
      ["TD No", "TD —", "TD —", "TD No file"],
    ]);
    expect(tables.flat(2)).to.include.members(["TH Company", "TD St Mary’s"]);
    const [name] = elements(pages, "LI").filter(({ text }) => text.startsWith("Made for"));
    expect(name?.inside.map(({ role }) => role)).to.deep.equal(["Lbl", "LBody"]);
    expect(info).to.include({ Language: "en" });
  });

  it("shows placeholders for an empty candidate", async () => {
    const text = textOf(await paperOf({}));
    for (const fact of ["Candidate without a name", "No documents.", "No references.", "Page 1/1"])
      expect(text).to.contain(fact);
  });

  it("numbers its pages", async () => {
    const { pages } = await paperOf({ documents: Array.from({ length: 30 }, (_, n) => `Document ${n}`) });
    expect(pages.length).to.be.greaterThan(2);
    for (const [index, page] of pages.entries()) expect(page).to.contain(`Page ${index + 1}/${pages.length}`);
  });

  it("lays out right-to-left names, with the numbers and Latin words in them, in visual order", async () => {
    const { placed } = await paperOf({ documents: ["שלום (CV) עולם 2024"] });
    const at = (text: string) => placed.find((piece) => piece.text.includes(text))?.x ?? Number.NaN;
    expect(at("2024")).to.be.lessThan(at("עולם"));
    expect(at("עולם")).to.be.lessThan(at("CV"));
    expect(at("CV")).to.be.lessThan(at("שלום"));
  });

  it("shapes Arabic letters according to their neighbours", async () => {
    const joined = await paperOf({ name: "محمد" });
    const apart = await paperOf({ name: "م‌ح‌م‌د" });
    // The forms of a letter differ in width. Without shaping, both names would be equally wide.
    const widthOf = ({ placed }: Paper) => {
      const arabic = placed.filter(({ text }) => /[\u0600-\u06FF]/.test(text));
      const pieces = arabic.filter(({ y }) => y === arabic[0]?.y); // the title: the name is in a sentence, too
      return Math.max(...pieces.map(({ x, width }) => x + width)) - Math.min(...pieces.map(({ x }) => x));
    };
    expect(Math.abs(widthOf(joined) - widthOf(apart))).to.be.greaterThan(2);
  });

  const SCRIPTS = [
    "山田太郎",
    "山﨑",
    "𠮷田",
    "ㄅㄆㄇ",
    "カタカナ",
    "한국어",
    "Ελληνικά",
    "Русский",
    "ქართული",
    "Հայերեն",
    "ภาษาไทย",
    "አማርኛ",
    "Tiếng Việt",
    "ཀརྨ",
    "ᏣᎳᎩ",
    "ᐃᓄᒃᑎᑐᑦ",
    "ⵜⴰⵎⴰⵣⵉⵖⵜ",
    "ᱥᱟᱱᱛᱟᱲᱤ",
    "ꆈꌠ",
    "☐ ☑ ✓ ★",
  ];
  it("has a font for every script", async () => {
    const paper = await paperOf({
      documents: [
        ...SCRIPTS,
        "हिन्दी",
        "বাংলা",
        "தமிழ்",
        "తెలుగు",
        "ગુજરાતી",
        "ਪੰਜਾਬੀ",
        "ಕನ್ನಡ",
        "മലയാളം",
        "සිංහල",
        "ខ្មែរ",
        "ລາວ",
        "မြန်မာ",
        "عربي",
        "עברית",
        "ଓଡ଼ିଆ",
        "ދިވެހި",
        "ܣܘܪܝܝܐ",
        "ᠮᠣᠩᠭᠣᠯ",
        "ꦗꦮ",
        "𞤆𞤵𞤤𞤢𞤪",
        "ߒߞߏ",
        "ꯃꯤꯇꯩ",
        "😀 👩‍👩‍👧",
      ],
    });
    for (const script of SCRIPTS) expect(textOf(paper)).to.contain(script);
    expect(textOf(paper)).not.to.contain("no font");
    expect(isPdfA(paper), "PDF/A, so no character is without a glyph").to.equal(true);
  });

  it("is byte-identical for the same data and the same generation time", async () => {
    const { pack } = await paperOf({ name: "Ann", documents: ["Passport"] });
    const json = Buffer.from(JSON.stringify(pack));
    const reader = { accountId: account.id, left: new AbortController().signal };
    const [first, second] = await Promise.all([typeset(json, reader), typeset(json, reader)]);
    expect(Buffer.from(first).equals(second)).to.equal(true);
  });

  it("does not block the event loop while it is typeset", async () => {
    const response = Object.fromEntries(Array.from({ length: 400 }, (_, n) => [`question ${n}`, "answer ".repeat(3)]));
    const { id } = (
      await client.post("/candidates", { references: Array.from({ length: 5 }, () => ({ email: "a@example.com" })) })
    ).body;
    await client.post(`/candidates/${id}/start`);
    for (const reference of (await packOf(client, id)).references)
      await client.patch(`/references/${reference.id}`, { state: "received", response });
    let longest = 0;
    let last = performance.now();
    const timer = setInterval(() => {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    }, 5);
    const started = performance.now();
    await download(client, `/candidates/${id}/pack?format=pdf`);
    const took = performance.now() - started;
    clearInterval(timer);
    expect(longest).to.be.lessThan(took / 2);
  });
});
