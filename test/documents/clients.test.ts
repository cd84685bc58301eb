import { expect } from "chai";
import { type Answer, expectProblem } from "../support/client.ts";
import { useAccount, useService } from "../support/use-service.ts";
import { candidateWithDocument, documentIn, download, held, sendForm } from "./support.ts";

/** The bytes that widely used HTTP clients send without being asked. */
describe("A file as real clients send it", () => {
  const service = useService();
  const { client } = useAccount(service);
  let documents: string;
  let content: string;
  beforeEach(async () => {
    const made = await candidateWithDocument(client);
    documents = `${made.candidate}/documents`;
    content = made.content;
  });

  const NAME = 'Content-Disposition: form-data; name="name"\r\n\r\nCV';
  /** Posts a form of these parts. Their texts are sent as UTF-8, `\xff` of a Buffer as it is. */
  const post = (parts: (string | Buffer)[], boundary = "b"): Promise<Answer> => {
    const bytes = parts.flatMap((part) => [Buffer.from(`--${boundary}\r\n`), Buffer.from(part), Buffer.from("\r\n")]);
    return client.request("POST", documents, {
      body: Buffer.concat([...bytes, Buffer.from(`--${boundary}--\r\n`)]),
      headers: { "Content-Type": `multipart/form-data; boundary="${boundary}"` },
    });
  };
  const put = (headers: Record<string, string>): Promise<Answer> =>
    client.request("PUT", content, { body: "bytes", headers });

  it("HttpClient of .NET names it twice, as an encoded word and in filename*", async () => {
    const file =
      "Content-Type: application/pdf\r\nContent-Disposition: form-data; name=content; filename=\"=?utf-8?B?TcO8bGxlci5wZGY=?=\"; filename*=utf-8''M%C3%BCller.pdf\r\n\r\n%PDF";
    const name =
      "Content-Type: text/plain; charset=utf-8\r\nContent-Disposition: form-data; name=name\r\n\r\nFührerschein";
    const added = await post([name, file], "5f0c1a52-9b2e-4b1e-8f9e-1f4f5a1f2d3c");
    expect(documentIn(added)).to.include({ name: "Führerschein" });
    expect(documentIn(added).content).to.include({ filename: "Müller.pdf", content_type: "application/pdf", size: 4 });
  });

  it("requests of Python sends no type for a file that it is given by its name", async () => {
    const file = 'Content-Disposition: form-data; name="content"; filename="cv.pdf"\r\n\r\n%PDF';
    const added = documentIn(await post([NAME, file], "7d1b6ad6f3d9a5b3d1c6e2f4a8b0c9d7"));
    expect(added.content).to.include({ filename: "cv.pdf", content_type: "application/octet-stream" });
  });

  it("curl --data-binary declares a form's type for any body", async () => {
    for (const type of ["application/x-www-form-urlencoded", "Application/X-WWW-Form-urlencoded; charset=UTF-8"])
      expect(documentIn(await put({ "Content-Type": type })).content).to.include({
        content_type: "application/octet-stream",
      });
  });

  const FILENAMES: [header: string, filename: string | null][] = [
    ["filename=\"=?utf-8?B?TcO8bGxlci5wZGY=?=\"; filename*=utf-8''M%C3%BCller.pdf", "Müller.pdf"],
    ['filename="=?utf-8?B?TcO8bGxlci5wZGY=?="', "Müller.pdf"],
    ['filename="=?UTF-8?Q?M=C3=BCller_CV.pdf?="', "Müller CV.pdf"],
    ['filename="=?utf-8?B?TcO8bGxl?= =?utf-8?B?ci5wZGY=?="', "Müller.pdf"],
    ['filename="=?utf-8?B?TcM=?=\r\n =?utf-8?B?vGxsZXIucGRm?="', "Müller.pdf"],
    ['filename="=?iso-8859-1?Q?M=FCller.pdf?="', "Müller.pdf"],
    ['filename="=?gb2312?B?vPLA+g==?=.pdf"', "简历.pdf"],
    ["filename*=utf-8''M%C3%BCller.pdf; filename=\"M?ller.pdf\"", "Müller.pdf"],
    ["filename=\"plain.pdf\"; filename*=utf-8''%22plain.pdf%22", "plain.pdf"],
    ["filename=\"=?utf-8?B?TcO8bGxlci5wZGY=?=\"; filename*=utf-8''%22M%C3%BCller.pdf%22", "Müller.pdf"],
    ["filename*=utf-8''%22plain.pdf%22", '"plain.pdf"'],
    ["filename*=ISO-8859-1'de'M%FCller.pdf", "Müller.pdf"],
    ["filename*0*=utf-8''M%C3%BCl; filename*1=\"ler.pdf\"", "Müller.pdf"],
    ['filename*0="long "; filename*1="name.pdf"', "long name.pdf"],
    ["filename*=utf-8''%3D%3Futf-8%3FQ%3Fa%3F%3D.pdf", "=?utf-8?Q?a?=.pdf"],
    ['filename="a\\b \\"c\\" \\\\ 100%22.pdf"', 'a\\b "c" \\ 100".pdf'],
    ['filename="M%C3%BCller%20%27x%27%20%22y%22%2050%25.pdf"', `Müller 'x' "y" 50%.pdf`],
    ['filename="%3D%3Futf-8%3FQ%3Fa%3F%3D.pdf"', "=?utf-8?Q?a?=.pdf"],
    ['filename="My CV 100%25.pdf"', "My CV 100%25.pdf"],
    ['filename="M%FCller%41.pdf"', "M%FCller%41.pdf"],
    ["filename=cv.pdf", "cv.pdf"],
    ['filename=""', null],
  ];
  for (const [header, filename] of FILENAMES)
    it(`in a form has the filename ${filename} for ${JSON.stringify(header)}`, async () => {
      const added = await post([NAME, `Content-Disposition: form-data; name="content"; ${header}\r\n\r\nbytes`]);
      expect(documentIn(added).content).to.include({ filename });
    });

  for (const [name, bytes] of Object.entries({
    "Latin-1": 'filename="M\xfcller.pdf"',
    "an encoded word that is not in its charset": 'filename="=?utf-8?Q?M=FCller.pdf?="',
    "an encoded word of no charset": 'filename="=?x-none?Q?M=FCller.pdf?="',
    "filename* that is not in its charset": "filename*=utf-8''M%FCller.pdf",
  }))
    it(`in a form is refused with a filename in ${name}`, async () => {
      const part = Buffer.from(`Content-Disposition: form-data; name="content"; ${bytes}\r\n\r\nbytes`, "latin1");
      const { errors } = expectProblem(await post([NAME, part]), 422, "validation_failed");
      expect(errors).to.deep.equal([{ pointer: "/content", detail: "must have a filename in UTF-8" }]);
    });

  it("in a PUT may have an encoded word for a name, and filename* goes before it", async () => {
    const word = "=?utf-8?B?TcO8bGxlci5wZGY=?=";
    for (const header of [
      `attachment; filename="${word}"`,
      `attachment; filename="x"; filename*=utf-8''M%C3%BCller.pdf`,
    ])
      expect(documentIn(await put({ "Content-Disposition": header })).content).to.include({ filename: "Müller.pdf" });
    for (const header of ["filename*=utf-8''M%FCller.pdf", 'filename="=?utf-8?Q?M=FCller.pdf?="']) {
      const refused = await put({ "Content-Disposition": `attachment; ${header}` });
      const [fault] = expectProblem(refused, 422, "validation_failed").errors;
      expect(fault).to.deep.equal({ pointer: "Content-Disposition", detail: "must have a filename in UTF-8" });
    }
  });

  const TYPES: [declared: string, kept: string][] = [
    ["text/csv; charset=windows-1252", "text/csv; charset=windows-1252"],
    ['text/csv;charset="utf-8";header=present', 'text/csv;charset="utf-8";header=present'],
    ["application/pdf; name=Müller.pdf", "application/pdf"],
    ["application/pdf;", "application/pdf"],
    ["", "application/octet-stream"],
  ];
  for (const [declared, kept] of TYPES)
    it(`in a form keeps the type ${JSON.stringify(declared)} as ${kept}, also for its download`, async () => {
      const head = `Content-Disposition: form-data; name="content"; filename="a"\r\nContent-Type: ${declared}\r\n\r\n`;
      const added = documentIn(await post([NAME, `${head}bytes`]));
      expect(added.content).to.include({ content_type: kept });
      const { headers } = await download(client, `${documents}/${added.id}/content`);
      expect(headers.get("content-type")).to.equal(kept);
    });

  for (const declared of ['"application/download"', "pdf", "application/pdf, text/plain"])
    it(`in a form is refused with the type ${declared}`, async () => {
      const head = `Content-Disposition: form-data; name="content"; filename="a"\r\nContent-Type: ${declared}\r\n\r\n`;
      expectProblem(await post([NAME, `${head}bytes`]), 415, "unsupported_media_type");
    });

  it("is refused by name in a Content-Transfer-Encoding, and so are a field and a PUT", async () => {
    const before = await held(service);
    const file = (encoding: string) =>
      `Content-Disposition: form-data; name="content"; filename="a"\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\nJVBERg==`;
    const field =
      'Content-Disposition: form-data; name="name"\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nF=C3=BChrerschein';
    const REFUSED: [Promise<Answer>, string, string][] = [
      [post([NAME, file("base64")]), "/content", "base64"],
      [post([NAME, file("Quoted-Printable")]), "/content", "Quoted-Printable"],
      [post([NAME, file("x-uuencode")]), "/content", "x-uuencode"],
      [post([field, file("binary")]), "/name", "quoted-printable"],
      [put({ "Content-Transfer-Encoding": "base64" }), "Content-Transfer-Encoding", "base64"],
    ];
    for (const [response, pointer, encoding] of REFUSED) {
      const { errors } = expectProblem(await response, 422, "validation_failed");
      expect(errors[0]?.pointer).to.equal(pointer);
      expect(errors[0]?.detail).to.contain(
        `must not have Content-Transfer-Encoding "${encoding}"; send the bytes as they`,
      );
    }
    expect(await held(service)).to.deep.equal(before);
    for (const encoding of ["binary", "8BIT", "7bit", ""])
      expect(documentIn(await post([NAME, file(encoding)])).content).to.include({ size: 8 });
    expect((await put({ "Content-Transfer-Encoding": "binary" })).status).to.equal(200);
  });

  it("may have fields that are Blobs, with a filename and a type of their own", async () => {
    const form = new FormData();
    form.append("metadata", new Blob(['{"team":"Ops"}'], { type: "application/json" }));
    form.append("name", new Blob(["Führerschein"]), "name.txt");
    form.append("content", new Blob(["bytes"]), "cv.pdf");
    const added = await sendForm(client, documents, form);
    expect(added.body).to.deep.include({ name: "Führerschein", metadata: { team: "Ops" } });
    form.append("other", new Blob(["x"]), "other.txt");
    const { errors } = expectProblem(await sendForm(client, documents, form), 422, "validation_failed");
    expect(errors[0]?.pointer).to.equal("/other");
  });

  it("is refused if the headers of a part have more than 16 KiB before its name", async () => {
    const part = (bytes: number) => `X-Padding: ${"x".repeat(bytes)}\r\n${NAME}`;
    expect((await post([part(15_000)])).status).to.equal(201);
    expectProblem(await post([part(20_000)]), 422, "validation_failed");
  });

  it("may have fields in the charset that they declare", async () => {
    const part =
      'Content-Type: text/plain; charset=iso-8859-2\r\nContent-Disposition: form-data; name="name"\r\n\r\nF\xfchrer\xbe';
    expect((await post([Buffer.from(part, "latin1")])).body).to.include({ name: "Führerž" });
  });
});
