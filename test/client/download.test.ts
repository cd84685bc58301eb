import { text } from "node:stream/consumers";
import { expect } from "chai";
import { dispositionOf, download, rangeHeaders } from "../../src/client/download.ts";

describe("a download of the client", () => {
  const named = async (disposition: string) =>
    (await download(new Response("x", { headers: { "Content-Disposition": disposition } }))).filename;

  it("has what the headers say", async () => {
    const headers = {
      "Content-Length": "3",
      "Content-Type": "text/plain",
      ETag: '"one"',
      "Content-Disposition": 'attachment; filename="a.txt"',
      "Content-Range": "bytes 0-2/9",
    };
    const { body, ...facts } = await download(new Response("abc", { headers }));
    expect(facts).to.deep.equal({
      contentType: "text/plain",
      size: 3,
      etag: '"one"',
      filename: "a.txt",
      contentRange: "bytes 0-2/9",
    });
    expect(await text(body)).to.equal("abc");
  });

  it("has an empty body and no guesses without headers", async () => {
    const { body, ...facts } = await download(new Response(null));
    expect(facts).to.deep.equal({
      contentType: "application/octet-stream",
      size: undefined,
      etag: undefined,
      filename: undefined,
      contentRange: undefined,
    });
    expect(await text(body)).to.equal("");
  });

  it("reads every form of a file's name", async () => {
    expect(await named("attachment; filename=plain.txt; size=3")).to.equal("plain.txt");
    expect(await named('attachment; filename="a \\"b\\" c.txt"')).to.equal('a "b" c.txt');
    expect(await named("attachment; filename=a.txt; filename*=UTF-8''na%C3%AFve.txt; size=3")).to.equal("naïve.txt");
    expect(await named("attachment")).to.equal(undefined);
    expect(await named("ATTACHMENT; FILENAME=a.txt; FILENAME*=utf-8''b%3B.txt")).to.equal("b;.txt");
    expect(await named('attachment; FileName="a; \\\\ b.txt"; size=3')).to.equal("a; \\ b.txt");
    expect(await named('attachment; filename=""')).to.equal("");
    expect(await named("attachment; filename=a.txt size=3")).to.equal("a.txt");
  });

  it("asks for a part by its first byte and the one after its last", () => {
    expect(rangeHeaders(undefined)).to.deep.equal({});
    expect(rangeHeaders({ start: 0, end: 1 })).to.deep.equal({ Range: "bytes=0-0" });
    expect(rangeHeaders({ start: 5 })).to.deep.equal({ Range: "bytes=5-" });
    expect(rangeHeaders({ start: 5, end: 9, etag: '"one"' })).to.deep.equal({
      Range: "bytes=5-8",
      "If-Range": '"one"',
    });
    for (const range of [
      { start: -1 },
      { start: 3, end: 3 },
      { start: 3, end: 2 },
      { start: NaN },
      { start: Infinity },
    ])
      expect(() => rangeHeaders(range)).to.throw(
        RangeError,
        `This range has no bytes: ${range.start}-${"end" in range ? range.end : undefined}`,
      );
  });

  it("names a file in a way that every server reads", () => {
    expect(dispositionOf("*('ö')")).to.equal("attachment; filename*=UTF-8''%2A%28%27%C3%B6%27%29");
    for (const name of ["plain.txt", "naïve (1).txt", "it's *.txt", "\ud800"]) {
      const [, encoded = ""] = /filename\*=UTF-8''([\w.%~-]+)/.exec(dispositionOf(name)) ?? [];
      expect(decodeURIComponent(encoded), name).to.equal(name.toWellFormed());
    }
  });
});
