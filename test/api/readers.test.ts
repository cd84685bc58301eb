import { Readable } from "node:stream";
import { expect } from "chai";
import { Type } from "typebox";
import { bodyReader, queryReader } from "../../src/api/input.ts";
import { endpoint, route } from "../../src/api/endpoint.ts";
import type { IncomingFile, StoredFile } from "../../src/content/file.ts";
import { propertiesOf } from "../../src/schema/fields.ts";
import { refused, request } from "../http/support.ts";

const CALLER = { accountId: "acct_1", keyId: "key_1", by: { type: "key", id: "key_1" } } as const;
const RULES = { bodyTimeoutMs: 60_000, maxFileBytes: 100 };
/** An endpoint that does nothing. */
const NOTHING = endpoint({
  name: "doNothing",
  tag: "Candidates",
  summary: "Do nothing",
  description: "It does nothing.",
  status: 204,
  problems: [],
  handle: () => Promise.resolve(undefined),
});

describe("a query", () => {
  const query = Type.Object(
    { limit: Type.Optional(Type.Integer({ minimum: 1 })), state: Type.Optional(Type.String({ maxLength: 3 })) },
    { additionalProperties: false },
  );
  const read = queryReader({ query });

  it("is read with its types, and may be empty", () => {
    expect({ ...(read("limit=5&state=a%20b") as object) }).to.deep.equal({ limit: 5, state: "a b" });
    for (const reader of [read, queryReader({})]) expect({ ...(reader("") as object) }).to.deep.equal({});
  });

  it("is refused with all of its faults", async () => {
    expect(await refused(() => read("limit=0&limit=0&x=1"))).to.deep.equal([
      "invalid_query",
      "The query is not valid. /limit is given more than once (and 2 more).",
      { pointer: "/limit", detail: "is given more than once" },
      { pointer: "/x", detail: "is not a known field. Leave it out" },
      { pointer: "/limit", detail: "must be at least 1" },
    ]);
    expect(await refused(() => read("limt=1"))).to.deep.equal([
      "invalid_query",
      "The query is not valid. /limt is not a known field. Did you mean limit?",
      { pointer: "/limt", detail: "is not a known field. Did you mean limit?" },
    ]);
    expect(await refused(() => read("__proto__=1"))).to.have.length(3);
  });

  it("is refused whatever it says if the endpoint takes none", async () => {
    const detail = "is not known: this endpoint takes no query parameters";
    expect(await refused(() => queryReader({})("a=1&b=2&a=3"))).to.deep.equal([
      "invalid_query",
      "The query is not valid. /a is given more than once (and 2 more).",
      { pointer: "/a", detail: "is given more than once" },
      { pointer: "/a", detail },
      { pointer: "/b", detail },
    ]);
  });
});

describe("a body in JSON", () => {
  const body = Type.Object({ name: Type.Optional(Type.String({ maxLength: 3 })) }, { additionalProperties: false });
  const JSON_BODY = { "content-type": "application/json", "transfer-encoding": "chunked" };
  const read = (
    method: "POST" | "PUT" | "PATCH",
    text: string,
    more: { bodyOptional?: true } = {},
    headers: object = JSON_BODY,
  ) =>
    bodyReader(route(method, "/x", "free", { ...NOTHING, body, ...more }), RULES)(
      request(headers as Record<string, string>, text),
      CALLER,
      {},
    );

  it("is read with a fingerprint of what was sent", async () => {
    for (const method of ["POST", "PUT", "PATCH"] as const)
      expect(await read(method, ' {"name":" a "}')).to.deep.equal({
        body: { name: "a" },
        warnings: [],
        file: undefined,
        fingerprint: '{"name":" a "}',
      });
  });

  it("may be a merge patch only in a PATCH", async () => {
    const headers = { ...JSON_BODY, "content-type": "application/merge-patch+json" };
    expect((await read("PATCH", "{}", {}, headers)).body).to.deep.equal({});
    for (const method of ["POST", "PUT"] as const)
      expect((await refused(() => read(method, "{}", {}, headers)))[1]).to.equal(
        'The body is "application/merge-patch+json". Send application/json in UTF-8.',
      );
    expect((await refused(() => read("PATCH", "{}", {}, { ...JSON_BODY, "content-type": "text/plain" })))[1]).to.equal(
      'The body is "text/plain". Send application/json or application/merge-patch+json in UTF-8.',
    );
  });

  it("may be missing only if it is optional", async () => {
    expect(await read("POST", "", { bodyOptional: true }, {})).to.deep.equal({
      body: {},
      warnings: [],
      file: undefined,
      fingerprint: "",
    });
    expect((await read("POST", "", { bodyOptional: true })).body, "chunked").to.deep.equal({});
    expect((await refused(() => read("POST", "")))[1], "chunked").to.equal(
      "The body is empty. Send a JSON object, at least {}.",
    );
    expect(await refused(() => read("POST", "", {}, {}))).to.deep.equal([
      "malformed_json",
      "The request has no body. Send a JSON object, at least {}.",
    ]);
  });

  it("is refused with its faults, and with how many more there are", async () => {
    const of = (count: number) =>
      JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, n) => [`n${n}`, 0])));
    const known = "is not a known field. Leave it out";
    for (const [count, more] of [
      [1, ""],
      [2, " (and 1 more)"],
      [100, " (and 99 more)"],
      [101, " (and at least 100 more)"],
      [102, " (and at least 100 more)"],
    ] as const) {
      const [code, detail, ...faults] = await refused(() => read("POST", of(count)));
      expect({ code, detail }).to.deep.equal({
        code: "validation_failed",
        detail: `The body is not valid. /n0 ${known}${more}.`,
      });
      expect(faults).to.have.length(Math.min(count, 101));
    }
    expect((await refused(() => read("POST", "7")))[1]).to.equal(
      "The body is not valid. It must be an object, not a number.",
    );
  });

  it("is not read if the endpoint takes none", async () => {
    const req = Object.assign(new Readable({ read: () => expect.fail("it was read") }), { headers: {} });
    const read = bodyReader(route("DELETE", "/x", "free", NOTHING), RULES);
    expect(await read(req as Parameters<typeof read>[0], CALLER, {})).to.deep.equal({
      body: undefined,
      warnings: [],
      file: undefined,
      fingerprint: "",
    });
  });
});

describe("a body with a file", () => {
  const file: StoredFile = { id: "f", filename: "b", contentType: "c", size: 5, sha256: "a" };
  const store = async (_caller: unknown, _params: unknown, { stream }: IncomingFile) => {
    for await (const _bytes of stream); // it is read to its end
    return file;
  };
  const discard = () => Promise.resolve();

  it("has no body beside the file if the file is the whole body", async () => {
    const put = route("PUT", "/x", "free", { ...NOTHING, upload: { store, discard } });
    expect(await bodyReader(put, RULES)(request({}, "bytes"), CALLER, {})).to.deep.equal({
      body: undefined,
      warnings: [],
      file,
      fingerprint: '[[],["a","b","c"]]',
    });
  });

  it("may be a form or JSON, if the endpoint takes both, and its refusal names both", async () => {
    const fields = Type.Object({});
    const upload = { form: fields, store, discard };
    const post = route("POST", "/x", "free", { ...NOTHING, body: fields, upload });
    const headers = { "content-type": "text/plain", "content-length": "2" };
    expect(await refused(() => bodyReader(post, RULES)(request(headers, "{}"), CALLER, {}))).to.deep.equal([
      "unsupported_media_type",
      'The body is "text/plain". Send application/json or multipart/form-data in UTF-8.',
    ]);
  });
});

describe("a route", () => {
  it("must have the parameters of its path in its schema, in their order", () => {
    const params = Type.Object({ id: Type.String(), documentId: Type.String() });
    expect(route("GET", "/a/:id/b/:documentId", "reads", { ...NOTHING, params })).to.include({
      name: "doNothing",
      method: "GET",
      path: "/a/:id/b/:documentId",
      surface: "reads",
    });
    for (const path of ["/a", "/a/:id", "/a/:documentId/:id", "/a/:id/:documentId/:more"])
      expect(() => route("GET", path, "reads", { ...NOTHING, params })).to.throw(
        `doNothing takes the parameters (id,documentId), but its path is ${path}.`,
      );
    expect(propertiesOf(undefined)).to.deep.equal({});
    expect(propertiesOf(Type.String())).to.deep.equal({});
  });
});
