import { once } from "node:events";
import net from "node:net";
import { expect } from "chai";
import { expectProblem } from "../support/client.ts";
import { useAccount, useService } from "../support/use-service.ts";

describe("input validation", () => {
  const service = useService({ BODY_TIMEOUT_MS: 300 });
  const account = useAccount(service);
  const { client } = account;
  afterEach(async () => {
    expect(
      (await client.get("/candidates")).body.data,
      "nothing is stored, and the process still serves",
    ).to.have.length(0);
  });

  const JSON_TYPE = { "Content-Type": "application/json" };

  it("refuses what is not JSON, and says where", async () => {
    const response = await client.request("POST", "/candidates", { body: '{"name":"a",}', headers: JSON_TYPE });
    expect(expectProblem(response, 400, "malformed_json").detail).to.match(/line 1, column 13/);
  });

  it("never repeats malformed JSON in the problem, because it may be personal", async () => {
    const response = await client.request("POST", "/candidates", {
      body: '{"email": zoe@example.com',
      headers: JSON_TYPE,
    });
    expect(JSON.stringify(response.body)).not.to.contain("zoe");
  });

  it("refuses a request without a body", async () => {
    expectProblem(await client.request("POST", "/candidates"), 400, "malformed_json");
  });

  it("refuses a media type that the endpoint does not take", async () => {
    const headers = { "Content-Type": "application/merge-patch+json" };
    const response = await client.request("POST", "/candidates", { body: "{}", headers });
    expect(expectProblem(response, 415, "unsupported_media_type").detail).to.contain("application/json");
  });

  const numbered = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`n${n}`, 0]));
  it("refuses 20,001 items and members at several depths", async () => {
    const name = [[...Array(9_999).fill(0)], Object.values(numbered(10_000))];
    const { detail } = expectProblem(await client.post("/candidates", { name }), 413, "payload_too_large");
    expect(detail).to.contain("20000 members and items");
  });

  it("reads 20,000 members and items at several depths, empty ones too", async () => {
    const name = [Array.from({ length: 9_995 }, () => []), Object.values(numbered(10_000)), [], {}];
    const { errors } = expectProblem(await client.post("/candidates", { name }), 422, "validation_failed");
    expect(errors.map(({ pointer }) => pointer)).to.deep.equal(["/name"]);
  });

  it("lists each fault of a list's items once", async () => {
    const response = await client.post("/candidates", { documents: ["x".repeat(10_000), { name: 7 }] });
    const { errors } = response.body as unknown as { errors: { pointer: string }[] };
    expect(errors.map(({ pointer }) => pointer)).to.deep.equal(["/documents/0", "/documents/1/name"]);
  });

  it("lists 100 faults of a body, and says that there are more", async () => {
    const { detail, errors } = expectProblem(await client.post("/candidates", numbered(101)), 422, "validation_failed");
    expect(detail).to.contain("/n0 is not a known field").and.contain("(and at least 100 more)");
    expect(errors).to.have.length(101);
    expect(errors.at(-1)).to.deep.equal({ pointer: "", detail: "and more faults" });
  });

  it("lists 100 faults of a query", async () => {
    const query = Object.keys(numbered(1_000)).join("&");
    expect(expectProblem(await client.get(`/candidates?${query}`), 400, "invalid_query").errors).to.have.length(101);
  });

  /** Sends raw bytes. @returns everything that the server sends until it closes the connection. */
  async function raw(text: string): Promise<string> {
    const socket = net.connect(service.port, "127.0.0.1");
    let received = "";
    socket.setEncoding("utf8").on("data", (data: string) => (received += data));
    socket.write(text);
    await once(socket, "close");
    return received;
  }
  const head = () =>
    `POST /candidates HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${account.key}\r\nContent-Type: application/json\r\n`;

  it("refuses a body that stops half way, after a timeout", async () => {
    const received = await raw(`${head()}Content-Length: 100\r\n\r\n{"name":`);
    expect(received)
      .to.match(/^HTTP\/1.1 408 /)
      .and.contain('"code":"request_timeout"');
  });

  it("survives a client that disconnects half way", async () => {
    const socket = net.connect(service.port, "127.0.0.1");
    socket.end(`${head()}Content-Length: 100\r\n\r\n{"name":`);
    socket.resume();
    await once(socket, "close");
  });

  for (const [what, text, status] of [
    ["bytes that are not HTTP", "hello\r\n\r\n", 400],
    [
      "two Content-Length headers",
      `POST /candidates HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}`,
      400,
    ],
    [
      "a Content-Length with chunked transfer coding",
      `POST /candidates HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      400,
    ],
    ["headers of 20,000 bytes", `GET /candidates HTTP/1.1\r\nHost: x\r\nX: ${"x".repeat(20_000)}\r\n\r\n`, 431],
  ] as const) {
    it(`refuses ${what}`, async () => {
      const received = await raw(text);
      expect(received)
        .to.match(new RegExp(`^HTTP/1.1 ${status} `))
        .and.contain("application/problem+json");
    });
  }

  for (const path of ["/candidates/%", "/candidates/%zz", "/candidates/%ff", "/%E0%A4%A"]) {
    it(`refuses the path ${path}`, async () => {
      const response = await client.get(path);
      expectProblem(response, 400, "malformed_path");
      expect(response.body).to.include({
        detail:
          "The path is not valid percent-encoded UTF-8. Encode each byte of the text as % and two hexadecimal digits.",
      });
    });
  }

  for (const path of [
    "/",
    "/candidate",
    "/Candidates",
    "/candidates/",
    "/candidates/a/b",
    "//candidates",
    "/candidates/../x",
  ]) {
    it(`responds with 404 for the path ${path}, and charges nothing`, async () => {
      const response = await client.get(path);
      expectProblem(response, 404, "not_found");
      expect(response.body).to.include({ detail: "This path does not exist. Read /openapi.json for all paths." });
      expect(response.headers.has("ratelimit")).to.equal(false);
    });
  }

  it("responds to any other method with 405 and the allowed methods, and charges nothing", async () => {
    const response = await client.request("DELETE", "/candidates");
    expectProblem(response, 405, "method_not_allowed");
    expect(response.body).to.include({ detail: "This path does not take DELETE. Use GET, HEAD, POST." });
    expect(response.headers.get("allow")).to.equal("GET, HEAD, POST");
    expect(response.headers.has("ratelimit")).to.equal(false);
  });
});
