import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { expect } from "chai";
import { refuseMalformed } from "../../src/http/client-error.ts";
import { boundConnections } from "../../src/http/connections.ts";

const BODY =
  '{"type":"/docs#malformed_request","title":"Malformed request","status":400,' +
  '"detail":"The request is not valid HTTP/1.1. Send it as RFC 9112 defines.",' +
  '"code":"malformed_request","request_id":"req_1"}';
const REFUSAL = [
  "HTTP/1.1 400 Bad Request",
  "Content-Type: application/problem+json",
  `Content-Length: ${BODY.length}`,
  "X-Request-Id: req_1",
  "Connection: close",
  "",
  BODY,
].join("\r\n");

const GET = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
const CHUNKED = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n";
const MALFORMED = "nonsense\r\n\r\n";

describe("A request that the HTTP parser rejects", () => {
  const logged: [fields: object, message: string][] = [];
  let server: Server;
  beforeEach(async () => {
    logged.length = 0;
    server = createServer();
    const log = { info: (...line: [object, string]) => void logged.push(line) };
    const connections = boundConnections(server, { maxOpen: 16, maxUnreadMs: 60_000, maxIdleMs: 60_000 }, log);
    refuseMalformed(server, { connections, newId: () => "req_1", log, address: "full" });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
  });
  afterEach(() => void server.close());

  /**
   * Sends the texts one after another. Waits after each until the server has read it as a request, and after the last one
   * until the parser has rejected it.
   * @param begin is called with the response to each request as soon as the request was read.
   * @param end is called with the response to the first request after the parser has rejected the last text.
   * @returns everything that the client received until the connection was closed.
   */
  async function received(texts: string[], { begin, end }: { begin?: Answer; end?: Answer } = {}): Promise<string> {
    const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
    let text = "";
    socket.setEncoding("utf8").on("data", (data: string) => (text += data));
    socket.on("error", () => undefined); // the server may cut the connection
    const closed = new Promise((resolve) => socket.once("close", resolve));
    const rejected = once(server, "clientError");
    const responses: ServerResponse[] = [];
    for (const [n, each] of texts.entries()) {
      const read = n === texts.length - 1 ? rejected : once(server, "request");
      socket.write(each);
      const [, res] = (await read) as [IncomingMessage, ServerResponse];
      if (read === rejected) break;
      responses.push(res);
      begin?.(res);
    }
    if (responses[0] !== undefined) end?.(responses[0]);
    await closed;
    return text;
  }
  type Answer = (res: ServerResponse) => void;

  it("is refused at once on a new connection, and logged", async () => {
    expect(await received([MALFORMED])).to.equal(REFUSAL);
    expect(logged).to.deep.equal([
      [
        { request_id: "req_1", status: 400, code: "malformed_request", client_address: "127.0.0.1" },
        "request rejected by the HTTP parser",
      ],
    ]);
  });

  it("is refused at once after a request that was answered", async () => {
    const begin: Answer = (res) => res.setHeader("Date", "x").end("first");
    expect(await received([GET, MALFORMED], { begin })).to.match(/^HTTP\/1\.1 200 OK\r\n/);
    expect(logged).to.have.length(1);
  });

  for (const [what, text] of [
    ["a request", GET],
    ["a request with an unknown Expect", GET.replace("Host", "Expect: miracles\r\nHost")],
  ] as const)
    it(`is refused after ${what} that is still being answered, once that has its response`, async () => {
      const end: Answer = (res) => res.end("first");
      const all = await received([text, MALFORMED], { end });
      expect(all).to.match(/^HTTP\/1\.1 200 OK\r\n/);
      expect(all.slice(all.indexOf("first"))).to.equal(`first${REFUSAL}`);
    });

  it("is refused if only its body is rejected, and its response has not begun", async () => {
    expect(await received([`${CHUNKED}\r\n`, MALFORMED])).to.equal(REFUSAL);
  });

  it("gets no refusal inside its own response: the connection is cut", async () => {
    const begin: Answer = (res) => res.flushHeaders();
    const all = await received([`${CHUNKED}\r\n`, MALFORMED], { begin });
    expect(all)
      .to.match(/^HTTP\/1\.1 200 OK\r\n/)
      .and.not.include("malformed_request");
    expect(logged).to.deep.equal([]);
  });

  it("gets no refusal in place of an earlier response if its body is rejected: the connection is cut", async () => {
    expect(await received([GET, `${CHUNKED}\r\n`, MALFORMED])).to.equal("");
    expect(logged).to.deep.equal([]);
  });
});
