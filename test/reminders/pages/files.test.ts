import { expect } from "chai";
import { withoutPrograms } from "../../../src/content/programs.ts";
import type { Body } from "../../support/client.ts";
import { useAccount, useService } from "../../support/use-service.ts";
import { linkTo, post } from "./support.ts";

const utf16 = (text: string, littleEndian = true) => {
  const bytes = Buffer.from(`\uFEFF${text}`, "utf16le");
  return littleEndian ? bytes : bytes.swap16();
};

describe("The page of a candidate, for a file that is plainly no document,", () => {
  const service = useService();
  const account = useAccount(service);
  const { client } = account;
  let candidate: Body;
  let form: string;

  beforeEach(async () => {
    candidate = (await client.post("/candidates", { email: "ada@example.com", documents: ["Passport"] })).body;
    candidate = (await client.post(`/candidates/${candidate.id}/start`)).body;
    const url = await linkTo(service, account, candidate.id, "candidate", { language: "de", questions: null });
    form = `${url}/documents/${candidate.documents[0]?.id}`;
  });
  const send = (name: string, bytes: string | Buffer<ArrayBuffer>) => post(form, { content: new File([bytes], name) });

  for (const name of [
    "setup.exe",
    "Pass\u202Efdp.exe",
    "CV.lnk",
    "run.SH",
    "C:\\x\\a.msi",
    "a.html",
    "a.svg",
    "a.jar",
    "a.js. ",
  ])
    it(`refuses the name ${JSON.stringify(name)}`, async () => {
      const { status, text } = await send(name, "%PDF-1.4");
      expect([
        status,
        text.includes("Passport: Programme, Skripte und Webseiten werden nicht angenommen."),
      ]).to.deep.equal([415, true]);
    });

  const PROGRAMS: Record<string, string | Buffer<ArrayBuffer>> = {
    "a program for Windows": Buffer.from("MZ\x90\0\x03\0", "latin1"),
    "a program for Linux": "\x7fELF\x02\x01",
    "a program for macOS": Buffer.from("cffaedfe07000001", "hex"),
    "a script": "#!/bin/sh\n",
    "a page": "<HTML>",
    "a page after a byte order mark and spaces": "\uFEFF \r\n\t<!DocType  html>",
    "a page after a declaration and comments": '<?xml version="1.0"?><!-- a --><!-- b -->\n<svg xmlns="x">',
    "a page in UTF-16": utf16("<script>alert(1)</script>"),
    "a page in UTF-16, the other way round": utf16(" <html>", false),
  };
  for (const [what, bytes] of Object.entries(PROGRAMS))
    it(`refuses ${what}, whatever it is called`, async () => {
      expect((await send("passport.pdf", bytes)).status).to.equal(415);
      const { documents } = (await client.get(`/candidates/${candidate.id}`)).body;
      expect(documents[0]).to.deep.include({ state: "requested", content: null });
    });

  it("refuses it if its bytes come one by one, and passes on none of them", async () => {
    const bytes = (text: string) => Array.from(Buffer.from(text), (byte) => Uint8Array.of(byte));
    const passed: Uint8Array[] = [];
    const read = async (text: string) => {
      for await (const chunk of withoutPrograms(bytes(text))) passed.push(chunk);
    };
    const failure = await read(` <html>${"x".repeat(9_000)}`).catch((error: unknown) => error);
    expect(failure).to.include({ code: "unsupported_media_type" });
    expect(passed).to.deep.equal([]);
    const text = `%PDF-${"x".repeat(9_000)}`;
    await read(text);
    expect(Buffer.concat(passed).toString()).to.equal(text);
  });

  const DOCUMENTS: Record<string, string | Buffer<ArrayBuffer>> = {
    "cv.docx": Buffer.from("504b030414000600", "hex"),
    "photo.heic": Buffer.from("000000186674797068656963", "hex"),
    "photo.jpg": Buffer.from("ffd8ffe000104a464946", "hex"),
    "cv.rtf": "{\\rtf1",
    "scan\uFFFD.pdf": "%PDF-1.4",
    "notes.txt": "< 5 years, <b>not</b> html, #!",
    "many-comments.txt": "<!---->".repeat(5_000),
    "large.pdf": `%PDF-1.4${"x".repeat(300_000)}`,
  };
  for (const [name, bytes] of Object.entries(DOCUMENTS))
    it(`takes ${name} as it is`, async () => {
      expect((await send(name, bytes)).status).to.equal(303);
      const path = `/candidates/${candidate.id}/documents/${candidate.documents[0]?.id}`;
      const { content } = (await client.get(path)).body as unknown as Body["documents"][number];
      expect(content).to.include({ filename: name, size: Buffer.byteLength(bytes) });
    });
});
