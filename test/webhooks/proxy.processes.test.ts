import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { connect, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { expect } from "chai";
import { type Dns, startDns } from "./dns.ts";
import { certificateFor, countConnections, listening, type Resolving, startResolving } from "./resolving.ts";
import { createWebhook, testDelivery } from "./support.ts";

const ALLOWED = "127.0.0.2";
const ADDRESSES: Readonly<Record<string, string[]>> = {
  "hooks.test": [ALLOWED],
  "strange.test": [ALLOWED],
  "six.test": ["3000::1"],
  "near.test": ["127.0.0.1"],
};
const AUTHORIZATION = `Basic ${Buffer.from("nudger:p@ss").toString("base64")}`;

describe("WEBHOOK_PROXY_URL", () => {
  const dir = mkdtempSync(join(tmpdir(), "onboarding-proxy-"));
  /** What the proxy was asked for. */
  const asked: string[] = [];
  /** Everything else that it was told. */
  let told: string[] = [];
  const received: string[] = [];
  const closers: { close(): void }[] = [];
  let dns: Dns;
  let service: Resolving;
  let near: { count: number; close(): void };
  let [port, tlsPort] = [0, 0];
  let hung: Promise<unknown> | undefined;

  /** What the proxy does with a target. By default it connects. */
  const behaviour = new Map<string, (socket: Socket) => void>();

  const listen = async (server: Server, host: string) => {
    closers.push(server);
    return listening(server, host);
  };
  const take = (request: IncomingMessage, response: ServerResponse) => {
    const { servername } = request.socket as TLSSocket & { servername?: string };
    received.push(`${servername ?? "http"} ${request.headers.host} ${request.url}`);
    response.writeHead(204).end();
  };

  before(async function () {
    let right;
    try {
      right = certificateFor("hooks.test", dir);
    } catch {
      process.stdout.write("      skipped: openssl is needed to make a certificate\n");
      this.skip();
    }
    port = await listen(createServer(take), ALLOWED);
    tlsPort = await listen(createTlsServer(right, take), ALLOWED);
    near = await countConnections("127.0.0.1", port);
    closers.push(near);
    const proxy = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      response.writeHead(502).end();
    });
    proxy.on("connect", (request: IncomingMessage, socket: Socket) => {
      const target = request.url ?? "";
      asked.push(`CONNECT ${target}`);
      told.push(...request.rawHeaders);
      socket.on("error", () => undefined);
      const behave = behaviour.get(target);
      if (behave !== undefined) return behave(socket);
      const [host, targetPort] = target.split(":");
      const through = connect(Number(targetPort), host, () => {
        socket.write("HTTP/1.1 200 Connected\r\n\r\n");
        through.pipe(socket).pipe(through);
      });
      through.on("error", () => socket.destroy());
    });
    const proxyPort = await listen(proxy, "127.0.0.1");
    dns = await startDns((name) => ADDRESSES[name]);
    const settings = {
      WEBHOOK_PROXY_URL: `http://nudger:p%40ss@127.0.0.1:${proxyPort}`,
      WEBHOOK_ALLOWED_NETWORKS: `${ALLOWED}/32`,
    };
    service = await startResolving(dns, settings, right.path);
  });
  beforeEach(() => {
    for (const list of [asked, told, received]) list.length = 0;
  });
  after(async () => {
    await service?.stop();
    dns?.close();
    for (const each of closers) each.close();
    rmSync(dir, { recursive: true, force: true });
  });

  it("is asked for the address that was checked, never for the name, and the nudge arrives under the name", async () => {
    const { client } = await service.account();
    const [plain, safe] = [`http://hooks.test:${port}/a`, `https://hooks.test:${tlsPort}/b?c=d`];
    for (const url of [plain, safe])
      expect(await testDelivery(client, url), url).to.include({ status: 204, error: null });
    expect(asked).to.deep.equal([`CONNECT ${ALLOWED}:${port}`, `CONNECT ${ALLOWED}:${tlsPort}`]);
    expect(told.join("\n"))
      .to.include(AUTHORIZATION)
      .and.not.match(/hooks|webhook|wh_|signature/i);
    expect(received).to.deep.equal([`http hooks.test:${port} /a`, `hooks.test hooks.test:${tlsPort} /b?c=d`]);
    expect(dns.lookups("hooks.test")).to.deep.equal({ ipv4: 2, ipv6: 2 });
  });

  it("is not asked for an address that nudges may not be sent to", async () => {
    const { client } = await service.account();
    for (const url of [`https://near.test:${port}/`, `http://near.test:${port}/`, `https://localhost:${port}/`])
      expect(await testDelivery(client, url), url).to.include({ status: null, error: "address" });
    expect(asked).to.deep.equal([]);
    expect(near.count).to.equal(0);
  });

  it("refuses, fails or hangs, and the delivery fails: each once, with its reason", async () => {
    const { client } = await service.account();
    behaviour.set("[3000::1]:443", (socket) => void socket.end("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"));
    behaviour.set("[3000::1]:444", (socket) => void socket.destroy());
    behaviour.set("[3000::1]:445", (socket) => void (hung = once(socket.resume(), "end")));
    const results = await Promise.all([
      testDelivery(client, "https://six.test/"),
      testDelivery(client, "https://six.test:444/"),
      testDelivery(client, "https://six.test:445/"),
      testDelivery(client, `https://strange.test:${tlsPort}/`),
      testDelivery(client, `https://hooks.test:${port}/`),
    ]);
    expect(results.map((result) => result?.error)).to.deep.equal(["connection", "connection", "timeout", "tls", "tls"]);
    await hung;
    const expected = ["[3000::1]:443", "[3000::1]:444", "[3000::1]:445", `${ALLOWED}:${tlsPort}`, `${ALLOWED}:${port}`];
    expect(asked).to.have.members(expected.map((target) => `CONNECT ${target}`));
    expect(received).to.deep.equal([]);
  });

  it("does not see what the webhook's own answer was", async () => {
    const { client } = await service.account();
    behaviour.set(`${ALLOWED}:9`, (socket) => {
      socket.write("HTTP/1.1 200 Connected\r\n\r\n");
      socket.once("data", () => socket.end("HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"));
    });
    const { path } = await createWebhook(client, { url: "http://hooks.test:9/" });
    expect(path).to.match(/wh_/);
    expect(await testDelivery(client, "http://hooks.test:9/")).to.include({ status: 407, error: null });
  });
});
