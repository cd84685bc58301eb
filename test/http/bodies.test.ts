import type { IncomingMessage } from "node:http";
import { setImmediate } from "node:timers/promises";
import { PassThrough } from "node:stream";
import { expect } from "chai";
import { checkMediaType, contentTypeOf, hasBody, MAX_JSON_BYTES, readJson } from "../../src/http/body.ts";
import { Problem } from "../../src/problems.ts";
import { refused, request } from "./support.ts";

const JSON_TYPE = { "content-type": "application/json" };

describe("the body of a request", () => {
  it("exists if it is chunked or has a length", () => {
    for (const [headers, exists] of [
      [{}, false],
      [{ "content-length": "0" }, false],
      [{ "content-length": "1" }, true],
      [{ "transfer-encoding": "chunked" }, true],
    ] as const)
      expect(hasBody(request(headers)), JSON.stringify(headers)).to.equal(exists);
  });

  it("has a media type in lower case, without parameters", () => {
    expect(contentTypeOf(request({ "content-type": "Text/Plain; Charset=x" }))?.essence).to.equal("text/plain");
    for (const headers of [{}, { "content-type": "nonsense" }])
      expect(contentTypeOf(request(headers))).to.equal(undefined);
  });

  const TYPES: [type: string | undefined, declared: string | undefined][] = [
    ["application/json", undefined],
    ["APPLICATION/JSON; charset=UTF-8", undefined],
    ['text/x; charset="utf-8"', undefined],
    ["application/json; charset=utf8", undefined],
    ["application/json;charset=UTF8", undefined],
    ["application/json; charset=csUTF8", undefined],
    [undefined, "has no Content-Type"],
    ["", "has no Content-Type"],
    ["nonsense", 'is "nonsense"'],
    ["text/plain", 'is "text/plain"'],
    ["application/json; charset=latin1", 'is "application/json; charset=latin1"'],
    ["application/json; charset=utf-16", 'is "application/json; charset=utf-16"'],
    ["x".repeat(101), `is "${"x".repeat(100)}"`],
  ];
  for (const [type, declared] of TYPES)
    it(`is ${declared === undefined ? "accepted" : "refused"} with the Content-Type ${type?.slice(0, 40) ?? "missing"}`, async () => {
      const req = request(type === undefined ? {} : { "content-type": type });
      expect(await refused(() => checkMediaType(req, ["application/json", "text/x"]))).to.deep.equal(
        declared === undefined
          ? []
          : ["unsupported_media_type", `The body ${declared}. Send application/json or text/x in UTF-8.`],
      );
    });

  it("is refused with any Content-Encoding but identity", async () => {
    for (const coding of ["identity", "IDENTITY"])
      checkMediaType(request({ ...JSON_TYPE, "content-encoding": coding }), ["application/json"]);
    for (const coding of ["gzip", "identity, gzip", ""])
      expect(
        await refused(() =>
          checkMediaType(request({ ...JSON_TYPE, "content-encoding": coding }), ["application/json"]),
        ),
      ).to.deep.equal([
        "unsupported_media_type",
        "Encoded bodies are not accepted. Send the body uncompressed, without Content-Encoding.",
      ]);
  });

  it("is refused with request_timeout if it is incomplete at the time limit, and the connection is closed", async () => {
    const req = Object.assign(new PassThrough(), { headers: JSON_TYPE, complete: false });
    const rules = { types: ["application/json"], timeoutMs: 20, optional: false };
    const failed: unknown = await readJson(req as unknown as IncomingMessage, rules).catch((error: unknown) => error);
    expect(failed).to.be.instanceOf(Problem).and.include({
      code: "request_timeout",
      detail: "The body was still incomplete after 0.02 seconds. Send it again.",
    });
    expect((failed as Problem).extras.headers).to.deep.equal({ Connection: "close" });
  });

  it("is not called too large if its client disconnects", async () => {
    const req = Object.assign(new PassThrough(), { headers: JSON_TYPE, complete: false });
    const rules = { types: ["application/json"], timeoutMs: 60_000, optional: false };
    const failed = readJson(req as unknown as IncomingMessage, rules).catch((error: unknown) => error);
    req.destroy(Object.assign(new Error("aborted"), { code: "ECONNRESET" })); // as Node does
    expect(await failed).to.include({ code: "ECONNRESET" });
  });

  it("fails at once if its client has disconnected before it was read", async () => {
    const req = Object.assign(new PassThrough(), { headers: JSON_TYPE, complete: false });
    req.on("error", () => undefined).destroy(new Error("aborted"));
    await setImmediate();
    const rules = { types: ["application/json"], timeoutMs: 60_000, optional: false };
    const failed = readJson(req as unknown as IncomingMessage, rules).catch((error: unknown) => error);
    expect(await failed).to.be.instanceOf(Error);
  });

  it("may be a MiB of JSON, whether its length is declared or not", async () => {
    const rules = { types: ["application/json"], timeoutMs: 60_000, optional: false };
    const largest = `"${"x".repeat(MAX_JSON_BYTES - 2)}"`;
    const tooLarge = ["payload_too_large", "The JSON body is too large. Send at most 1048576 bytes."];
    for (const declare of [(n: number) => ({ "content-length": `${n}` }), () => ({})]) {
      const read = (text: string) => readJson(request({ ...JSON_TYPE, ...declare(text.length) }, text), rules);
      expect(await read(largest)).to.have.length(MAX_JSON_BYTES - 2);
      expect(await refused(() => read(`${largest} `))).to.deep.equal(tooLarge);
    }
  });

  it("may be empty only if it is optional, and is then an object without members", async () => {
    const read = (optional: boolean, body: string) =>
      readJson(request(JSON_TYPE, body), { types: ["application/json"], timeoutMs: 60_000, optional });
    expect(await read(true, "")).to.deep.equal({});
    expect(await read(true, "[1]")).to.deep.equal([1]);
    expect(await refused(() => read(false, ""))).to.deep.equal([
      "malformed_json",
      "The body is empty. Send a JSON object, at least {}.",
    ]);
    expect(await refused(() => read(true, '["\\ud800"]'))).to.deep.equal([
      "validation_failed",
      "The body contains text that is not Unicode. Remove the lone surrogates.",
      { pointer: "/0", detail: "must be Unicode text, without lone surrogates" },
    ]);
  });
});
