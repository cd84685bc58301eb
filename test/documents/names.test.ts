import { expect } from "chai";
import contentDisposition from "content-disposition";
import { useAccount } from "../support/use-service.ts";
import { candidateWithDocument, documentIn, download, postForm, put } from "./support.ts";

/** Returns a Content-Disposition with the name encoded by RFC 8187. */
function extended(name: string): string {
  const encoded = encodeURIComponent(name).replaceAll(/['()*]/g, (char) => `%${char.charCodeAt(0).toString(16)}`);
  return `attachment; filename*=UTF-8''${encoded}`;
}

describe("names of documents and files", () => {
  const { client } = useAccount();

  /** What the name shows, the name, and the filename in the download's header if it differs. */
  const NAMES: [string, string, string?][] = [
    ["Latin", "Zoë Müller ½.pdf"],
    ["Greek and Cyrillic", "Διαβατήριο Паспорт.pdf"],
    ["Chinese, Japanese, Korean", "护照 パスポート 여권.pdf"],
    ["right-to-left", "جواز سفر דרכון.pdf"],
    ["Indic and Thai", "पासपोर्ट หนังสือเดินทาง.pdf"],
    ["emoji of several code points", "👩🏽‍⚕️🇫🇷.pdf"],
    ["combining marks", "e\u0301\u0323.pdf"],
    ["percent signs and quotes", "100% \"sure\" 'yes' %41; a=b, c*.pdf"],
    ["path separators", "../..\\etc/passwd", ".._.._etc_passwd"],
    ["folders only", "..", "_"],
    ["dots at the end", "passport.."],
    ["control characters", "a\u0000b\u001b[31m\u007f\r\nSet-Cookie: x=1.pdf", "a_b_[31m___Set-Cookie: x=1.pdf"],
    ["a right-to-left override", "invoice\u202Efdp.exe", "invoice_fdp.exe"],
    ["500 characters", "é".repeat(500)],
    ["500 emoji", "😀".repeat(500)],
  ];
  for (const [what, name, saved = name] of NAMES) {
    it(`are kept exactly, and are harmless in headers: ${what}`, async () => {
      const { candidate, document, content } = await candidateWithDocument(client);
      const renamed = await client.patch(document, { name });
      expect(renamed.body.name).to.equal(name);
      const stored = documentIn(await put(client, content, "bytes", { "Content-Disposition": extended(name) }));
      expect(stored.content?.filename).to.equal(name);
      const read = await download(client, content);
      expect(read.bytes.toString()).to.equal("bytes");
      const disposition = read.headers.get("content-disposition") ?? "";
      expect(disposition).to.match(/^attachment; filename=[ -~\u00a0-\u00ff]*$/);
      expect(contentDisposition.parse(disposition).parameters.filename).to.equal(saved);
      const inline = await client.post(`${candidate}/documents`, { name, content: { filename: name, data: "eA==" } });
      expect(inline.body.name).to.equal(name);
      expect(documentIn(inline).content?.filename).to.equal(name);
      const file = { bytes: "bytes", filename: name };
      const byForm = documentIn(await postForm(client, `${candidate}/documents`, { name: "Passport" }, file));
      expect(byForm.content?.filename).to.equal(name);
    });
  }

  it("are kept exactly if they come in a form's field", async () => {
    const { candidate } = await candidateWithDocument(client);
    const name = '護照 \u0000 \u001b 👩🏽‍⚕️ ../x \r\n "';
    expect((await postForm(client, `${candidate}/documents`, { name })).body.name).to.equal(name);
  });

  it("are decoded as UTF-8 if a header is valid UTF-8, else as Latin-1", async () => {
    const { content } = await candidateWithDocument(client);
    const raw = Buffer.from('attachment; filename="护照.pdf"').toString("latin1");
    expect(documentIn(await put(client, content, "x", { "Content-Disposition": raw })).content?.filename).to.equal(
      "护照.pdf",
    );
    const latin = 'attachment; filename="Zo\u00eb.pdf"';
    expect(documentIn(await put(client, content, "y", { "Content-Disposition": latin })).content?.filename).to.equal(
      "Zoë.pdf",
    );
  });

  it("keep a byte order mark at the start", async () => {
    const { content } = await candidateWithDocument(client);
    const raw = Buffer.from('attachment; filename="\uFEFFa.pdf"').toString("latin1");
    const stored = documentIn(await put(client, content, "x", { "Content-Disposition": raw }));
    expect(stored.content?.filename).to.equal("\uFEFFa.pdf");
  });

  it("of documents are used for the download if the file has none", async () => {
    const { document, content } = await candidateWithDocument(client);
    await client.patch(document, { name: "Passport" });
    await put(client, content, "x");
    expect((await download(client, content)).headers.get("content-disposition")).to.equal(
      'attachment; filename="Passport"',
    );
  });
});
