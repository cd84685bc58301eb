import { once } from "node:events";
import { connect } from "node:net";
import { expect } from "chai";
import { useAccount, useService } from "../support/use-service.ts";

describe("the head of a request", () => {
  const service = useService();
  const account = useAccount(service);

  /** Sends the lines as they are. @returns the response, once the service has closed the connection. */
  async function answerTo(...lines: string[]): Promise<string> {
    const socket = connect(service.port, "127.0.0.1");
    let response = "";
    socket.setEncoding("utf8").on("data", (data: string) => (response += data));
    socket.write([...lines, `Authorization: Bearer ${account.key}`, "Connection: close", "", ""].join("\r\n"));
    await once(socket, "close");
    return response;
  }

  for (const [what, lines] of [
    ["no Host", ["GET /candidates HTTP/1.1"]],
    ["two Hosts", ["GET /candidates HTTP/1.1", "Host: a", "Host: b"]],
    ["the same Host twice", ["GET /candidates HTTP/1.1", "Host: a", "host: a"]],
  ] as const) {
    it(`is refused with ${what}, and nothing is charged`, async () => {
      const response = await answerTo(...lines);
      expect(response)
        .to.match(/^HTTP\/1\.1 400 /)
        .and.contain('"detail":"Send exactly one Host header.","code":"malformed_request"');
      expect(await account.used()).to.deep.equal({});
    });
  }

  it("needs no Host in HTTP/1.0", async () => {
    expect(await answerTo("GET /candidates HTTP/1.0")).to.match(/^HTTP\/1\.1 200 /);
  });

  it("gives the request its id, if it is plain text of up to 128 characters", async () => {
    const idOf = async (id: string) =>
      (await account.client.get("/candidates", { "X-Request-Id": id })).headers.get("x-request-id");
    for (const id of ["trace-1:2", "a".repeat(128)]) expect(await idOf(id)).to.equal(id);
    for (const id of ["a".repeat(129), 'a"b', "a b\tc"]) expect(await idOf(id)).to.match(/^req_/);
  });
});
