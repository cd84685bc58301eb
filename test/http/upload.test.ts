import type { IncomingMessage } from "node:http";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { openForm } from "../../src/http/form.ts";
import { declaredType, fingerprintOf, openRaw } from "../../src/http/upload.ts";
import { refused, request } from "./support.ts";

describe("an uploaded body", () => {
  const rules = { maxFileBytes: 5, timeoutMs: 60_000 };
  const described = async (headers: Record<string, string>) => {
    const upload = openRaw(request(headers, "bytes"), rules);
    const { stream, ...facts } = (await upload.file) ?? expect.fail("no file");
    expect(await text(Readable.from(stream))).to.equal("bytes");
    expect(await upload.fields()).to.deep.equal({});
    return facts;
  };

  it("has the type and the name that its headers say", async () => {
    expect(await described({})).to.deep.equal({ filename: null, contentType: null });
    expect(await described({ "content-type": "", "content-disposition": "attachment" })).to.deep.equal({
      filename: null,
      contentType: null,
    });
    const named = { "content-type": "text/plain", "content-disposition": 'attachment; filename="a.txt"' };
    expect(await described(named)).to.deep.equal({ filename: "a.txt", contentType: "text/plain" });
    for (const [name, kept] of [
      ["na\xc3\xafve", "naïve"],
      ["na\xefve", "naïve"],
    ])
      expect(await described({ "content-disposition": `attachment; filename="${name}"` })).to.include({
        filename: kept,
      });
    expect(await described({ "content-disposition": 'attachment; filename=""' })).to.include({ filename: null });
  });

  it("is refused with the reason if it is too large, a form, or has headers that say nothing", async () => {
    const open = (headers: Record<string, string>) => refused(() => openRaw(request(headers), rules).close());
    expect(await open({ "content-length": "5" })).to.deep.equal([]);
    expect(await open({ "content-length": "6" })).to.deep.equal([
      "payload_too_large",
      "The file is too large. Send at most 5 bytes.",
    ]);
    expect(await open({ "content-type": "multipart/form-data; boundary=x" })).to.deep.equal([
      "unsupported_media_type",
      "Forms are not accepted here. Send the file's bytes as the body, with the file's own Content-Type.",
    ]);
    const detail = "must follow RFC 6266, for example attachment; filename*=UTF-8''na%C3%AFve.txt";
    expect(await open({ "content-disposition": ";" })).to.deep.equal([
      "validation_failed",
      `The file is not valid. Content-Disposition ${detail}.`,
      { pointer: "Content-Disposition", detail },
    ]);
    for (const type of [undefined, ""]) expect(declaredType(type)).to.equal(null);
    expect(await refused(() => declaredType("nonsense"))).to.deep.equal([
      "unsupported_media_type",
      "The file's Content-Type is not a media type. Send one, such as application/pdf.",
    ]);
  });

  it("is identified by the fields in any order, and by the file's bytes, name and type", () => {
    const file = { sha256: "a", filename: "b", contentType: "c" } as Parameters<typeof fingerprintOf>[1];
    expect(fingerprintOf({ b: 2, a: 1, c: 3 }, file)).to.equal('[[["a",1],["b",2],["c",3]],["a","b","c"]]');
    expect(fingerprintOf({}, undefined)).to.equal("[[],null]");
  });

  it("fails with the cause while its file is read, whether that is too large, the form breaks off or the client leaves", async () => {
    const part = '--b\r\nContent-Disposition: form-data; name="content"; filename="a"\r\n\r\n123';
    const reset = Object.assign(new Error("aborted"), { code: "ECONNRESET" });
    for (const [go, code] of [
      [(req: PassThrough) => req.end("456\r\n--b--\r\n"), "payload_too_large"],
      [(req: PassThrough) => req.end(), "malformed_request"],
      [(req: PassThrough) => req.destroy(reset), "ECONNRESET"],
    ] as const) {
      const headers = { "content-type": "multipart/form-data; boundary=b" };
      const req = Object.assign(new PassThrough(), { headers, complete: false });
      const upload = openForm(req as unknown as IncomingMessage, undefined, rules);
      req.write(part);
      const { stream } = (await upload.file) ?? expect.fail("no file");
      const read = text(Readable.from(stream)).catch((error: unknown) => error);
      go(req);
      expect(await read).to.include({ code });
      expect(await upload.fields().catch((error: unknown) => error)).to.equal(await read);
    }
  });

  it("is read no further once it is closed, although it is a form that is still arriving", async () => {
    const headers = { "content-type": "multipart/form-data; boundary=b" };
    const req = Object.assign(new PassThrough(), { headers, complete: false });
    const upload = openForm(req as unknown as IncomingMessage, undefined, rules);
    const failed = upload.file.catch((error: unknown) => error);
    upload.close();
    req.end("--b");
    expect(await failed).to.include({ name: "AbortError" });
  });
});
