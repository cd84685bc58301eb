import { once } from "node:events";
import { expect } from "chai";
import { ConnectionError } from "../../src/client/index.ts";
import { useProxy } from "../limiter/proxy.ts";
import { useAccount, useService } from "../support/use-service.ts";
import { errorOf, recorded, useGateway } from "./support.ts";

describe("the client, after a failure", () => {
  const service = useService();
  const proxy = useProxy(service);
  const gateway = useGateway();
  const account = useAccount(service);
  /** A client that reaches the service through the proxy. */
  const proxied = () => recorded({ baseUrl: `http://127.0.0.1:${proxy.port}`, apiKey: account.key });
  const behindGateway = () => recorded({ baseUrl: gateway.url, apiKey: "cos_live_x" });
  afterEach(() => proxy.mend());

  it("sends a POST again with the same Idempotency-Key, so that the work is done once", async () => {
    const { client, sent } = proxied();
    const replayed: (string | null)[] = [];
    proxy.loseAnswer = true;
    const { id } = await client.createCandidate(
      { name: "Ada" },
      { onAnswer: ({ headers }) => replayed.push(headers.get("idempotent-replayed")) },
    );
    const keys = sent.map(({ headers }) => headers["Idempotency-Key"]);
    expect(keys).to.have.length(2);
    expect(keys[1]).to.be.a("string").and.to.equal(keys[0]);
    expect(replayed).to.deep.equal(["true"]);
    expect((await account.client.get("/candidates")).body.data.map((row) => row.id)).to.deep.equal([id]);
  });

  it("sends a GET and a DELETE again; a DELETE that was done is a success", async () => {
    const { client, sent } = proxied();
    const { id } = await client.createCandidate({});
    const reference = await client.addReference(id, {});
    proxy.loseAnswer = true;
    expect((await client.readCandidate(id)).references).to.have.length(1);
    proxy.loseAnswer = true;
    await client.deleteReference(reference.id);
    expect(sent.map(({ method }) => method)).to.deep.equal(["POST", "POST", "GET", "GET", "DELETE", "DELETE"]);
    expect(await errorOf(client.deleteReference(reference.id)), "a DELETE of nothing").to.include({
      code: "not_found",
    });
  });

  it("sends a PATCH again: what it did is done already; with If-Match it does not", async () => {
    const { client, sent } = proxied();
    const { id } = await client.createCandidate({ external_id: "1" });
    proxy.loseAnswer = true;
    expect(await client.updateCandidate(id, { name: "Ada" })).to.include({ name: "Ada", version: 2 });
    proxy.loseAnswer = true;
    expect(await client.updateCandidates([{ external_id: "1", name: "Eve" }])).to.include({ updated: 0, unchanged: 1 });
    proxy.loseAnswer = true;
    const error = await errorOf(client.updateCandidate(id, { name: "Grace" }, { ifMatch: "*" }));
    expect(error).to.be.instanceOf(ConnectionError);
    expect(sent.map(({ method }) => method)).to.deep.equal(["POST", ...Array(5).fill("PATCH")]);
  });

  it("waits until the service can be reached again", async () => {
    proxy.refuse();
    const { client, sent } = recorded({
      baseUrl: `http://127.0.0.1:${proxy.port}`,
      apiKey: account.key,
      fetch: async (url, init) => {
        if (sent.length === 3) proxy.mend();
        return await fetch(url, init);
      },
    });
    await client.createCandidate({});
    expect(sent).to.have.length(3);
    const [first = 0, second = 0, third = 0] = sent.map(({ at }) => at);
    expect(second - first).to.be.at.least(125);
    expect(third - second).to.be.at.least(250);
  });

  it("gives an attempt up that is not answered in time", async () => {
    const silent = recorded({
      baseUrl: `http://127.0.0.1:${proxy.port}`,
      apiKey: account.key,
      timeout: 0.2,
      maxWait: 0,
    });
    proxy.swallow("toServer");
    const error = await errorOf(silent.client.readLimits());
    expect(error).to.be.instanceOf(ConnectionError);
    expect(error)
      .to.have.property("message")
      .that.matches(/GET http.*\/limits failed: No response within 0.2 s/);
  });

  it("has no such limit if timeout is Infinity", async () => {
    gateway.answer = (_, response) => void setTimeout(() => response.end("{}"), 100);
    const { client, sent } = recorded({ baseUrl: gateway.url, apiKey: "k", timeout: Infinity });
    await client.readCandidate("cand_1");
    expect(sent).to.have.length(1);
  });

  it("throws what onAnswer throws, and sends nothing again for it", async () => {
    const { client, sent } = behindGateway();
    let closed: Promise<unknown> | undefined;
    gateway.answer = (_, response) => {
      closed = once(response, "close");
      response.writeHead(200).write("{"); // the rest never comes
    };
    const own = new TypeError("the caller's mistake");
    const onAnswer = (): void => {
      throw own;
    };
    expect(await errorOf(client.createCandidate({}, { onAnswer }))).to.equal(own);
    expect(sent).to.have.length(1);
    await closed; // nobody reads the answer, so its connection is given up
  });

  it("sends nothing with a key that no header can hold", async () => {
    const { client, sent } = recorded({ baseUrl: gateway.url, apiKey: "cos_live_…" });
    expect(await errorOf(client.readLimits())).to.be.instanceOf(TypeError);
    expect(sent).to.have.length(0);
  });
});

describe("the client, with a wrong baseUrl", () => {
  const gateway = useGateway();
  const call = (baseUrl = gateway.url) => errorOf(recorded({ baseUrl, apiKey: "k", maxWait: 0 }).client.readLimits());

  it("says that another program responds", async () => {
    gateway.answer = (_, response) => void response.setHeader("content-type", "text/html").end("<html>Welcome</html>");
    expect(await call()).to.have.property(
      "message",
      "The response has the status 200, but it is not JSON (text/html). Check baseUrl.",
    );
    gateway.answer = (_, response) => void response.writeHead(404).end("not here");
    expect(await call())
      .to.have.property("message")
      .that.matches(/status 404.*Check baseUrl/);
    gateway.answer = (_, response) => void response.writeHead(301, { location: "https://elsewhere.example/" }).end();
    expect(await call())
      .to.have.property("message")
      .that.matches(/redirects to https:\/\/elsewhere\.example\/\. Check/);
  });

  it("says that nobody responds, and refuses what is no http URL", async () => {
    const error = await call("http://127.0.0.1:1");
    expect(error).to.be.instanceOf(ConnectionError);
    expect(String(error), "the key is a secret").not.to.include("Bearer");
    for (const baseUrl of ["", "localhost", "ftp://x"])
      expect(() => recorded({ baseUrl, apiKey: "k" }), baseUrl).to.throw(TypeError);
  });
});
