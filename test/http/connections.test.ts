import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { expect } from "chai";
import { boundConnections } from "../../src/http/connections.ts";
import { useService } from "../support/use-service.ts";

const GET = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
const RULES = { maxOpen: 3, maxUnreadMs: 400, maxIdleMs: 400 };

describe("A connection", () => {
  let server: Server;
  let logged: object[];
  let handle: RequestListener;
  let handled: number;

  beforeEach(async () => {
    logged = [];
    handled = 0;
    server = createServer({ keepAliveTimeout: 60_000 });
    boundConnections(server, RULES, { info: (fields) => void logged.push(fields) });
    server.on("request", (req, res) => {
      if (req.socket.destroyed) return;
      handled++;
      handle(req, res);
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  async function connected(): Promise<Socket> {
    const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
    socket.on("error", () => undefined);
    await once(socket, "connect");
    return socket;
  }
  const reasons = () => logged.map((fields) => (fields as { reason: string }).reason);

  it("may have so many open requests, and is closed by one more", async () => {
    handle = () => undefined;
    const socket = await connected();
    socket.write(GET.repeat(RULES.maxOpen));
    await wait(50);
    expect(socket.closed).to.equal(false);
    socket.write(GET);
    socket.resume();
    await once(socket, "close");
    expect(handled).to.equal(RULES.maxOpen);
    expect(reasons()).to.deep.equal(["too many requests are open on it"]);
  });

  it("may have no more of those that expect something", async () => {
    handle = () => undefined;
    const socket = await connected();
    socket.resume();
    socket.write(GET.replace("\r\n\r\n", "\r\nExpect: x\r\n\r\n").repeat(RULES.maxOpen + 1));
    await once(socket, "close");
    expect(reasons()).to.deep.equal(["too many requests are open on it"]);
  });

  it("may send any number of requests one after the other", async () => {
    handle = (_, res) => res.end("x");
    const socket = await connected();
    socket.resume();
    for (let n = 0; n < 20; n++) {
      socket.write(GET);
      await once(socket, "data");
    }
    expect([handled, socket.closed]).to.deep.equal([20, false]);
    socket.destroy();
  });

  it("ends every request that is open on it when it closes, also those that wait for their turn", async () => {
    const ended: number[] = [];
    handle = (_, res) => {
      const number = handled;
      res.once("close", () => ended.push(number));
    };
    const socket = await connected();
    socket.write(GET.repeat(RULES.maxOpen));
    await wait(50);
    socket.destroy();
    await wait(50);
    expect(ended.toSorted((one, other) => one - other)).to.deep.equal([1, 2, 3]);
  });

  it("is closed if its client takes nothing of a response", async () => {
    handle = (_, res) => res.end(Buffer.alloc(64 * 1024 * 1024));
    const socket = await connected();
    socket.pause();
    socket.write(GET);
    const noise = setInterval(() => socket.write("\r\n"), 100); // bytes that are no request do not help
    for (let n = 0; n < 50 && logged.length === 0; n++) await wait(100);
    clearInterval(noise);
    expect(reasons()).to.deep.equal(["its response is not read"]);
    socket.destroy();
  });

  it("stays open for a client that reads slowly, and while the service works", async () => {
    handle = (_, res) => void setTimeout(() => res.end("x"), 3 * RULES.maxUnreadMs);
    const socket = await connected();
    socket.write(GET);
    const [response] = (await once(socket, "data")) as [Buffer];
    expect(response.toString()).to.match(/^HTTP\/1\.1 200 /);
    expect(logged).to.deep.equal([]);
    socket.destroy();
  });

  it("is closed if it sends no request, whatever else it sends", async () => {
    handle = (_, res) => res.end("x");
    const socket = await connected();
    socket.resume();
    socket.write(GET);
    const noise = setInterval(() => socket.write("\r\n"), 100);
    await once(socket, "close");
    clearInterval(noise);
    expect(reasons()).to.deep.equal(["it sends no request"]);
  });
});

describe("A connection to the service", () => {
  const service = useService();

  it("may have 16 open requests, and is closed by one more", async () => {
    for (const [count, answered] of [
      [16, 16],
      [17, 0],
    ] as const) {
      const socket = connect(service.port, "127.0.0.1");
      let received = "";
      socket.on("error", () => undefined).on("data", (data) => (received += data.toString("latin1")));
      const [first, last] = [GET.repeat(count - 1), GET.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n")];
      socket.write(first + last);
      await new Promise((resolve) => socket.once("close", resolve));
      expect(received.match(/HTTP\/1\.1 \d/g) ?? [], `${count} requests`).to.have.length(answered);
    }
  });
});
