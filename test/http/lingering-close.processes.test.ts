import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { useAccount, useService } from "../support/use-service.ts";

const BODY_BYTES = 4 * 1024 * 1024;
const PIECE = Buffer.alloc(64 * 1024, "x");

describe("A response to a client that is still sending its body, after which the connection closes", () => {
  const service = useService();
  const account = useAccount(service);

  /** Sends the headers of an upload that is refused. @returns the connection, and the response's first bytes. */
  async function refusedHalfway(header: string, bodyBytes = BODY_BYTES): Promise<{ socket: Socket; response: string }> {
    const socket = connect({ port: service.port, host: "127.0.0.1", allowHalfOpen: true });
    await once(socket, "connect");
    socket.write(
      "PUT /candidates/x/documents/y/content HTTP/1.1\r\nHost: x\r\n" +
        `Content-Type: text/plain\r\nContent-Length: ${bodyBytes}\r\n${header}\r\n\r\n`,
    );
    const [response] = (await once(socket, "data")) as [Buffer];
    return { socket, response: response.toString() };
  }

  it("is not lost: the client can send the rest, and the connection ends without a reset", async () => {
    const { socket, response } = await refusedHalfway("Connection: close");
    expect(response).to.match(/^HTTP\/1\.1 401 [^]*\r\nConnection: close\r\n/);
    const errors: Error[] = [];
    socket.on("error", (error) => errors.push(error));
    socket.resume();
    const ended = once(socket, "end");
    for (let sent = 0; sent < BODY_BYTES; sent += PIECE.length)
      if (!socket.write(PIECE)) await Promise.race([once(socket, "drain"), once(socket, "close")]);
    await ended;
    const closed = once(socket, "close");
    socket.end();
    await closed;
    expect(errors).to.deep.equal([]);
    expect(socket.bytesWritten).to.be.above(BODY_BYTES);
  });

  it("is the last one: a request that follows the body is not carried out", async () => {
    const { socket } = await refusedHalfway("Host: y", 2);
    const create = `POST /candidates HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${account.key}\r\n`;
    // In one write, so that the service reads the end of the body and the next request together.
    socket.write(`{}${create}Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`);
    await gone(socket);
    expect(await account.used()).to.deep.equal({});
  });

  it("leaves no connection open: if nothing comes for five seconds, it is closed", async function () {
    this.timeout(20_000);
    const { socket } = await refusedHalfway("Connection: close");
    await setTimeout(7_000);
    await gone(socket);
  });

  /** Goes on sending requests until a reset says that the service has closed the connection. */
  async function gone(socket: Socket): Promise<void> {
    const closed = new Promise((resolve) => socket.on("error", () => undefined).once("close", resolve));
    const sending = setInterval(() => socket.write("GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n"), 10);
    await closed.finally(() => clearInterval(sending));
  }
});
