import { gunzipSync } from "node:zlib";
import { expect } from "chai";
import client from "../../src/client/package.json" with { type: "json" };
import { expectProblem } from "../support/client.ts";
import { useService } from "../support/use-service.ts";

describe("GET /docs", function () {
  this.timeout(60_000); // the first request renders the pages
  const service = useService();
  const get = (path: string, headers: Record<string, string> = {}, method = "GET") =>
    fetch(service.url + path, { method, headers });

  it("responds with a page, without a key", async () => {
    for (const path of ["/docs", "/docs/quick-start", "/console"]) {
      const response = await get(path);
      expect(response.status, path).to.equal(200);
      expect(response.headers.get("content-type")).to.equal("text/html; charset=utf-8");
      expect(await response.text()).to.match(/^<!doctype html>/);
    }
  });

  it("allows only scripts, styles and requests of its own origin", async () => {
    const { headers } = await get("/docs");
    const policy = headers.get("content-security-policy") ?? "";
    const strict = ["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'"];
    const closed = ["base-uri 'none'", "frame-ancestors 'none'", "form-action 'none'"];
    expect(policy.split("; ")).to.have.members([...strict, ...closed, "img-src 'self' data:"]);
    for (const [name, value] of [
      ["x-content-type-options", "nosniff"],
      ["referrer-policy", "no-referrer"],
      ["cache-control", "public, no-cache"],
    ] as const)
      expect(headers.get(name)).to.equal(value);
  });

  it("compresses, with an entity tag for each encoding", async () => {
    const tags = new Set<string | null>();
    const texts = new Set<string>();
    for (const encoding of ["br", "gzip", "identity"]) {
      const response = await get("/docs", { "Accept-Encoding": encoding });
      expect(response.headers.get("content-encoding")).to.equal(encoding === "identity" ? null : encoding);
      expect(response.headers.get("vary")).to.include("Accept-Encoding");
      tags.add(response.headers.get("etag"));
      texts.add(await response.text());
    }
    expect(tags.size).to.equal(3);
    expect(texts.size, "the text is the same").to.equal(1);
  });

  it("returns 304 to a client that has the page", async () => {
    const tag = (await get("/docs")).headers.get("etag") ?? "";
    const response = await get("/docs", { "If-None-Match": tag });
    expect(response.status).to.equal(304);
    expect(await response.text()).to.equal("");
    expect((await get("/docs", { "If-None-Match": '"other"' })).status).to.equal(200);
  });

  it("serves the package of the client as it is, with an entity tag", async () => {
    const path = `/docs/client/candidate-onboarding-client-${client.version}.tgz`;
    const response = await get(path, { "Accept-Encoding": "gzip, br" });
    expect(response.status).to.equal(200);
    expect(response.headers.get("content-type")).to.equal("application/gzip");
    expect(response.headers.get("content-encoding")).to.equal(null);
    expect(gunzipSync(await response.arrayBuffer()).toString("latin1")).to.include("package/dist/index.js");
    const again = await get(path, { "If-None-Match": response.headers.get("etag") ?? "" });
    expect(again.status).to.equal(304);
  });

  it("gives HEAD with the headers of GET", async () => {
    const [head, got] = [await get("/docs", {}, "HEAD"), await get("/docs")];
    expect(head.status).to.equal(200);
    for (const name of ["etag", "content-type", "content-encoding", "content-length"])
      expect(head.headers.get(name), name).to.equal(got.headers.get(name));
    expect(await head.text()).to.equal("");
  });

  it("says that a page is unknown: in HTML to browsers, as a problem to others", async () => {
    for (const path of ["/docs/nothing", "/docs/", "/docs/limits/", "/docs/a/b", "/docs/assets/nothing"]) {
      const page = await get(path, { Accept: "text/html,*/*;q=0.8" });
      expect(page.status, path).to.equal(404);
      expect(await page.text(), path).to.include("<h1>Page not found</h1>");
    }
    const response = await get("/docs/nothing");
    expectProblem(
      { status: response.status, headers: response.headers, body: (await response.json()) as never },
      404,
      "not_found",
    );
  });

  it("returns the whole page for unknown paths each time, also to a client that has it", async () => {
    for (const encoding of ["br", "identity"]) {
      const headers = { Accept: "text/html", "Accept-Encoding": encoding };
      const first = await get("/docs/nothing", headers);
      const again = await get("/docs/nothing", { ...headers, "If-None-Match": first.headers.get("etag") ?? "*" });
      expect(again.status).to.equal(404);
      expect(again.headers.get("vary")).to.include("Accept,").and.include("Accept-Encoding");
      expect(await again.text()).to.include("<h1>Page not found</h1>");
    }
  });

  it("takes no other method, and no path outside the pages", async () => {
    for (const method of ["POST", "PUT", "DELETE", "OPTIONS"])
      for (const path of ["/docs", "/docs/limits", "/docs/assets/docs.js", "/console"]) {
        const response = await get(path, {}, method);
        expect(response.status, `${method} ${path}`).to.equal(405);
        await response.arrayBuffer();
      }
    for (const name of ["__proto__", "constructor", "not-found", "..%2f..%2fpackage.json", "%2e%2e%2fmanifest.json"])
      for (const path of [`/docs/${name}`, `/docs/assets/${name}`])
        expect((await get(path)).status, path).to.equal(404);
  });
});
