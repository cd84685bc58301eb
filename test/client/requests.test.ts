import { expect } from "chai";
import { OnboardingClient } from "../../src/client/index.ts";

/** Returns a client, and the requests that it sends, as its `fetch` gets them. Each is answered with {}. */
function listening() {
  const sent: { url: string; init: RequestInit & { duplex?: string } }[] = [];
  const client = new OnboardingClient({
    baseUrl: "http://service.example/base/",
    apiKey: "cos_live_x",
    fetch: (url, init) => {
      sent.push({ url, init });
      return Promise.resolve(new Response("{}"));
    },
  });
  return { client, sent };
}

const KEY = { Authorization: "Bearer cos_live_x" };
const BYTES = { "Content-Type": "application/octet-stream" };

describe("a request of the client", () => {
  const CALLS: [
    make: (client: OnboardingClient) => Promise<unknown>,
    method: string,
    path: string,
    headers: Record<string, string>,
    body?: string,
  ][] = [
    [(client) => client.readLimits(), "GET", "/limits", {}],
    [(client) => client.listCandidates(), "GET", "/candidates", {}],
    [
      (client) => client.listCandidates({ cursor: "a b&c", limit: 5 }, { ifMatch: '"one"' }),
      "GET",
      "/candidates?cursor=a+b%26c&limit=5",
      { "If-Match": '"one"' },
    ],
    [
      (client) => client.createCandidate({ name: "Ada" }, { idempotencyKey: "row 7" }),
      "POST",
      "/candidates",
      { "Content-Type": "application/json", "Idempotency-Key": "row 7" },
      '{"name":"Ada"}',
    ],
    [
      (client) => client.createCandidate({}, { idempotencyKey: "row 7", dryRun: true }),
      "POST",
      "/candidates?dry_run=true",
      { "Content-Type": "application/json", "Idempotency-Key": "row 7" },
      "{}",
    ],
    [
      (client) => client.startCandidate("a/b", { idempotencyKey: "row 7" }),
      "POST",
      "/candidates/a%2Fb/start",
      { "Idempotency-Key": "row 7" },
    ],
    [
      (client) => client.changeQuietHours({ enabled: true }, { idempotencyKey: "unused", ifMatch: "*" }),
      "PATCH",
      "/settings/quiet-hours",
      { "Content-Type": "application/json", "If-Match": "*" },
      '{"enabled":true}',
    ],
    [(client) => client.deleteReference("ref_1"), "DELETE", "/references/ref_1", {}],
    [(client) => client.readPack("cand_1"), "GET", "/candidates/cand_1/pack?format=json", {}],
    [(client) => client.downloadPack("cand_1", "pdf"), "GET", "/candidates/cand_1/pack?format=pdf", {}],
    [
      (client) => client.readDocumentContent("c", "d", { range: { start: 1, end: 3, etag: '"one"' } }),
      "GET",
      "/candidates/c/documents/d/content",
      { Range: "bytes=1-2", "If-Range": '"one"' },
    ],
    [
      (client) => client.putDocumentContent("c", "d", "text", { filename: "(it's).txt" }),
      "PUT",
      "/candidates/c/documents/d/content",
      { ...BYTES, "Content-Disposition": "attachment; filename*=UTF-8''%28it%27s%29.txt" },
      "text",
    ],
    [
      (client) => client.putDocumentContent("c", "d", new Blob(["text"])),
      "PUT",
      "/candidates/c/documents/d/content",
      BYTES,
      "text",
    ],
    [
      (client) => client.putDocumentContent("c", "d", new Blob(["text"], { type: "text/plain" })),
      "PUT",
      "/candidates/c/documents/d/content",
      { "Content-Type": "text/plain" },
      "text",
    ],
    [
      (client) =>
        client.putDocumentContent("c", "d", new Blob(["text"], { type: "text/plain" }), { contentType: "text/csv" }),
      "PUT",
      "/candidates/c/documents/d/content",
      { "Content-Type": "text/csv" },
      "text",
    ],
  ];
  for (const [make, method, path, headers, body] of CALLS) {
    it(`is ${method} ${path} with ${Object.keys(headers).join(", ") || "no header of its own"}`, async () => {
      const { client, sent } = listening();
      await make(client);
      expect(sent.map(({ url }) => url)).to.deep.equal([`http://service.example/base${path}`]);
      const { body: payload, duplex, signal, ...init } = sent[0]?.init ?? {};
      expect(init).to.deep.equal({ method, headers: { ...KEY, ...headers }, redirect: "manual" });
      expect(signal).to.be.instanceOf(AbortSignal);
      expect(duplex).to.equal(body === undefined ? undefined : "half");
      expect(payload == null ? undefined : await new Response(payload).text()).to.equal(body);
    });
  }

  it("has an Idempotency-Key of its own if it is a POST", async () => {
    const { client, sent } = listening();
    for (let n = 0; n < 2; n++) await client.startCandidate("cand_1");
    const keys = sent.map(({ init }) => (init.headers as Record<string, string>)["Idempotency-Key"]);
    for (const key of keys) expect(key).to.match(/^[0-9a-f]{8}-[0-9a-f-]{27}$/);
    expect(keys[0]).not.to.equal(keys[1]);
  });

  it("has the fields of a form in their order, and then the file, without a Content-Type of its own", async () => {
    const { client, sent } = listening();
    const fields = { name: "scan", required: false, metadata: { a: "b" }, note: undefined } as { name: string };
    await client.addDocument("c", fields, { file: new File(["text"], "a.txt"), idempotencyKey: "row 7" });
    const { body, headers } = sent[0]?.init ?? {};
    expect(headers).to.deep.equal({ ...KEY, "Idempotency-Key": "row 7" });
    const given = [...(body as FormData)].map(([name, value]) => [
      name,
      typeof value === "string" ? value : value.name,
    ]);
    expect(given).to.deep.equal([
      ["name", "scan"],
      ["required", "false"],
      ["metadata", '{"a":"b"}'],
      ["content", "a.txt"],
    ]);
  });

  it("is made only for an address with http or https", () => {
    for (const baseUrl of ["ftp://x", "xhttp://x", "httpsx://x", "file:///x"])
      expect(() => new OnboardingClient({ baseUrl, apiKey: "k" })).to.throw(
        TypeError,
        `baseUrl is not an http URL: ${baseUrl}`,
      );
    for (const baseUrl of ["http://x", "https://x"]) void new OnboardingClient({ baseUrl, apiKey: "k" });
  });
});
