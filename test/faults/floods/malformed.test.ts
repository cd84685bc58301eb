import { setTimeout as wait } from "node:timers/promises";
import { expect } from "chai";
import { useService, useSharedAccount } from "../../support/use-service.ts";
import { malformedRequests } from "./malformed.ts";
import { faultOf, RawConnection } from "./raw.ts";

const BODY_TIMEOUT_MS = 1_000;
/** Maximum time until a request is answered and its connection closed, even if its body never arrives. */
const ANSWER_MS = 5_000;

describe("malformed HTTP requests", function () {
  this.timeout(60_000);
  const service = useService({ BODY_TIMEOUT_MS });
  const account = useSharedAccount(service);

  it("are answered with problem+json or a closed connection, and smuggle in no other request", async () => {
    const faults: string[] = [];
    await Promise.all(
      malformedRequests(account.key).map(async ([what, bytes]) => {
        const connection = new RawConnection(service.port);
        connection.socket.end(Buffer.from(bytes, "latin1"));
        if (!(await connection.closedWithin(ANSWER_MS))) faults.push(`${what}: still open`);
        const fault = faultOf(connection.received);
        if (fault !== undefined) faults.push(`${what}: ${fault}`);
      }),
    );
    const { data } = (await account.client.get("/candidates")).body;
    expect(faults).to.deep.equal([]);
    expect(data).to.deep.equal([]);
  });

  it("are refused after the valid requests before them are answered, and close the connection", async () => {
    const connection = new RawConnection(service.port);
    const good = `GET /limits HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${account.key}\r\n\r\n`;
    connection.socket.write(`${good.repeat(3)}garbage\r\n\r\n`);
    expect(await connection.closedWithin(ANSWER_MS)).to.equal(true);
    expect(connection.received.match(/HTTP\/1\.1 \d+/g)).to.deep.equal([
      "HTTP/1.1 200",
      "HTTP/1.1 200",
      "HTTP/1.1 200",
      "HTTP/1.1 400",
    ]);
    const [, id] = /X-Request-Id: (req_\w+)[^{]*\{.*"request_id":"\1"/s.exec(connection.received) ?? [];
    expect(service.log.find(({ request_id }) => request_id === id)).to.include({
      status: 400,
      code: "malformed_request",
    });
  });

  it("do not include requests with an unknown Expect header, which is ignored", async () => {
    const connection = new RawConnection(service.port);
    connection.socket.end(
      `POST /candidates HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`,
    );
    expect(await connection.closedWithin(ANSWER_MS)).to.equal(true);
    expect(connection.received)
      .to.match(/^HTTP\/1\.1 401 /)
      .and.contain("api_key_missing");
  });

  const pipelined = (count: number) => Array.from({ length: count }, (_, n) => `${n}-of-${count}`);
  const requestOf = (id: string) =>
    `GET /limits HTTP/1.1\r\nHost: x\r\nX-Request-Id: ${id}\r\nAuthorization: Bearer ${account.key}\r\n\r\n`;

  it("are refused after 16 pipelined valid requests, each of which is answered once and in order", async () => {
    const connection = new RawConnection(service.port);
    const ids = pipelined(16);
    connection.socket.write(`${ids.map(requestOf).join("")}garbage\r\n\r\n`);
    expect(await connection.closedWithin(20_000)).to.equal(true);
    const answered = connection.received.match(/(?<=x-request-id: )\S+/gi) ?? [];
    expect(answered.slice(0, -1)).to.deep.equal(ids);
    expect(answered.at(-1), "the refusal of what came last").to.match(/^req_/);
  });

  it("end with the connection if 17 requests are open on it, and each of them has its line in the log", async () => {
    const connection = new RawConnection(service.port);
    const ids = pipelined(17);
    connection.socket.write(ids.map(requestOf).join(""));
    expect(await connection.closedWithin(20_000)).to.equal(true);
    const lines = () => service.log.filter(({ request_id }) => ids.slice(0, 16).includes(String(request_id)));
    while (lines().length < 16) await wait(10);
    for (const line of lines()) expect(line).to.include({ msg: "request", aborted: true });
  });
});
