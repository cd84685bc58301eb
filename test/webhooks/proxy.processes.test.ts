import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { expect } from "chai";
import { useStarted } from "../support/use-started.ts";
import { ALLOWED, useResolving } from "./resolving.ts";
import { testDelivery } from "./support.ts";

const ADDRESSES: Readonly<Record<string, string[]>> = {
  "hooks.test": [ALLOWED],
  "strange.test": [ALLOWED],
  "six.test": ["3000::1"],
  "near.test": ["127.0.0.1"],
};
const AUTHORIZATION = `Basic ${Buffer.from("nudger:p@ss").toString("base64")}`;

describe("WEBHOOK_PROXY_URL", () => {
  /** What the proxy was asked for. */
  const asked: string[] = [];
  /** Everything else that it was told. */
  const told: string[] = [];
  let hung: Promise<unknown> | undefined;
  /** What the proxy does with a target. By default it connects. */
  const BEHAVIOURS: Readonly<Record<string, (socket: Socket) => void>> = {
    "[3000::1]:443": (socket) => void socket.end("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"),
    "[3000::1]:444": (socket) => void socket.destroy(),
    "[3000::1]:445": (socket) => void (hung = once(socket.resume(), "end")),
  };

  async function startProxy(): Promise<Server> {
    const proxy = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      response.writeHead(502).end();
    });
    proxy.on("connect", ({ url: target = "", rawHeaders }: IncomingMessage, socket: Socket) => {
      asked.push(`CONNECT ${target}`);
      told.push(...rawHeaders);
      socket.on("error", () => undefined);
      const behave = BEHAVIOURS[target];
      if (behave !== undefined) return behave(socket);
      const [host, port] = target.split(":");
      const through = connect(Number(port), host, () => {
        socket.write("HTTP/1.1 200 Connected\r\n\r\n");
        through.pipe(socket).pipe(through);
      });
      through.on("error", () => socket.destroy());
    });
    await once(proxy.listen(0, "127.0.0.1"), "listening");
    return proxy;
  }
  const proxy = useStarted("The proxy", startProxy, (started) => started.close());
  const service = useResolving(
    (name) => ADDRESSES[name],
    () => ({ WEBHOOK_PROXY_URL: `http://nudger:p%40ss@127.0.0.1:${(proxy.address() as AddressInfo).port}` }),
  );
  beforeEach(() => {
    for (const list of [asked, told, service.received]) list.length = 0;
  });

  it("is asked for the address that was checked, never for the name, and the nudge arrives under the name", async () => {
    const { port, tlsPort } = service;
    const { client } = await service.account();
    for (const url of [`http://hooks.test:${port}/a`, `https://hooks.test:${tlsPort}/b?c=d`])
      expect(await testDelivery(client, url), url).to.include({ status: 204, error: null });
    expect(asked).to.deep.equal([`CONNECT ${ALLOWED}:${port}`, `CONNECT ${ALLOWED}:${tlsPort}`]);
    expect(told.join("\n"))
      .to.include(AUTHORIZATION)
      .and.not.match(/hooks|webhook|wh_|signature/i);
    const received = service.received.map(({ servername, headers, path }) => [servername, headers.host, path]);
    expect(received).to.deep.equal([
      [undefined, `hooks.test:${port}`, "/a"],
      ["hooks.test", `hooks.test:${tlsPort}`, "/b?c=d"],
    ]);
    expect(service.dns.lookups("hooks.test")).to.deep.equal({ ipv4: 2, ipv6: 2 });
  });

  it("is not asked for an address that nudges may not be sent to", async () => {
    const { client } = await service.account();
    for (const name of ["near.test", "localhost"])
      expect(await testDelivery(client, `https://${name}:${service.port}/`)).to.include({ error: "address" });
    expect(asked).to.deep.equal([]);
    expect(service.near()).to.equal(0);
  });

  it("refuses, fails or hangs, and the delivery fails: each once, with its reason", async () => {
    const { port, tlsPort } = service;
    const { client } = await service.account();
    const results = await Promise.all([
      testDelivery(client, "https://six.test/"),
      testDelivery(client, "https://six.test:444/"),
      testDelivery(client, "https://six.test:445/"),
      testDelivery(client, `https://strange.test:${tlsPort}/`),
      testDelivery(client, `https://hooks.test:${port}/`),
    ]);
    expect(results.map(({ error }) => error)).to.deep.equal(["connection", "connection", "timeout", "tls", "tls"]);
    await hung;
    const expected = [...Object.keys(BEHAVIOURS), `${ALLOWED}:${tlsPort}`, `${ALLOWED}:${port}`];
    expect(asked).to.have.members(expected.map((target) => `CONNECT ${target}`));
    expect(service.received).to.deep.equal([]);
  });
});
