import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { TLSSocket } from "node:tls";
import { expect } from "chai";
import { Webhook } from "standardwebhooks";
import { MAX_WEBHOOKS } from "../../src/webhooks/store.ts";
import { until } from "../erasure/support.ts";
import type { TestAccount } from "../support/service.ts";
import { type Dns, startDns } from "./dns.ts";
import { certificateFor, countConnections, listening, type Resolving, startResolving } from "./resolving.ts";
import { createWebhook, deliveryOf, testDelivery } from "./support.ts";

/** In WEBHOOK_ALLOWED_NETWORKS. Nothing else of loopback is. */
const ALLOWED = "127.0.0.2";
/** Public, and never routed. */
const PUBLIC = "3000::1";
/** Allowed too. Nobody listens there. */
const REFUSING = ["127.0.0.4", "127.0.0.5", "127.0.0.6", "127.0.0.7"];

const FORBIDDEN: readonly (readonly string[])[] = [
  ...["127.0.0.1", "127.8.8.8", "0.0.0.0", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.0.1"].map(alone),
  ...["100.64.0.1", "100.127.255.255", "169.254.169.254", "192.0.0.8", "192.0.2.1", "192.88.99.1"].map(alone),
  ...["198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "240.0.0.1", "255.255.255.255"].map(alone),
  ...["::1", "::", "fe80::1", "fc00::1", "fd00:ec2::254", "fec0::1", "ff02::1", "100::1", "4000::1", "5f00::1"].map(
    alone,
  ),
  ...["::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "::ffff:0:127.0.0.1", "64:ff9b::7f00:1"].map(alone),
  ...["64:ff9b:1::7f00:1", "2002:7f00:1::1", "2001::1", "2001:db8::1", "3fff::1", "2001:20::1"].map(alone),
  [PUBLIC, "127.0.0.1"],
  ["127.0.0.1", PUBLIC],
  [PUBLIC, "::1"],
  [ALLOWED, "127.0.0.1"],
  [ALLOWED, "::1"],
  ["127.0.0.1", ALLOWED],
  [],
];

function alone(address: string): [string] {
  return [address];
}

describe("the name in a webhook's url", function () {
  const dir = mkdtempSync(join(tmpdir(), "onboarding-names-"));
  const nudges: {
    host: string | undefined;
    path: string | undefined;
    body: string;
    headers: IncomingMessage["headers"];
  }[] = [];
  const names: (string | false | null)[] = [];
  const closers: { close(): void }[] = [];
  const near: { count: number }[] = [];
  let dns: Dns;
  let service: Resolving;
  let [port, tlsPort, strangePort] = [0, 0, 0];

  const take = (request: IncomingMessage, response: { writeHead(status: number): { end(): void } }) => {
    void text(request).then((body) => {
      const { host } = request.headers;
      nudges.push({ host, path: request.url, body, headers: request.headers });
      response.writeHead(204).end();
    });
  };
  const listen = async (server: Server, host: string) => {
    closers.push(server);
    return listening(server, host);
  };

  before(async function () {
    let right, strange;
    try {
      [right, strange] = [certificateFor("hooks.test", dir), certificateFor("strange.test", dir)];
    } catch {
      process.stdout.write("      skipped: openssl is needed to make a certificate\n");
      this.skip();
    }
    const tls = createTlsServer(right, take);
    tls.on("secureConnection", ({ servername }: TLSSocket & { servername: string | false | null }) =>
      names.push(servername),
    );
    port = await listen(createServer(take), ALLOWED);
    tlsPort = await listen(tls, ALLOWED);
    strangePort = await listen(createTlsServer(strange, take), ALLOWED);
    for (const each of [port, tlsPort]) near.push(await countConnections("127.0.0.1", each));
    near.push(await countConnections("::1", port));
    dns = await startDns((name, nth) => {
      const [, index] = /^forbidden-(\d+)\.test$/.exec(name) ?? [];
      if (index !== undefined) return FORBIDDEN[Number(index)];
      const [, refusing] = /^behind-(\d)\.test$/.exec(name) ?? [];
      if (refusing !== undefined) return [...REFUSING.slice(0, Number(refusing)), ALLOWED];
      if (name.startsWith("rebinds")) return nth === 0 ? [ALLOWED] : ["127.0.0.1", "::1"];
      return /(^|\.)(hooks|strange|public)\.test$/.test(name) ? [name === "public.test" ? PUBLIC : ALLOWED] : undefined;
    });
    service = await startResolving(dns, { WEBHOOK_ALLOWED_NETWORKS: `${ALLOWED}/32, 127.0.0.4/30` }, right.path);
  });
  after(async () => {
    await service?.stop();
    dns?.close();
    for (const each of [...closers, ...(near as unknown as { close(): void }[])]) each.close();
    rmSync(dir, { recursive: true, force: true });
  });

  it("must lead to addresses that are all public or allowed: nothing is sent to any other", async () => {
    const others = ["unknown.test", "localhost", "localhost.", "ats.localhost", `${"x".repeat(64)}.test`];
    const names = [...FORBIDDEN.map((_, index) => `forbidden-${index}.test`), ...others];
    const mixed = names.filter((_, index) => FORBIDDEN[index]?.includes(ALLOWED));
    const urls = [
      ...names.map((name) => `https://${name}:${port}/`),
      ...mixed.map((name) => `http://${name}:${port}/`),
    ];
    const each = async (url: string, index: number, { client }: TestAccount) => {
      const about = `${url} ${FORBIDDEN[index]?.join()}`;
      expect(await testDelivery(client, url), about).to.include({ status: null, error: "address" });
    };
    for (let first = 0; first < urls.length; first += MAX_WEBHOOKS) {
      const account = await service.account();
      const some = urls.slice(first, first + MAX_WEBHOOKS);
      await Promise.all(some.map((url, index) => each(url, first + index, account)));
    }
    expect(near.map(({ count }) => count)).to.deep.equal([0, 0, 0]);
    expect(nudges).to.deep.equal([]);
  });

  it("of a public address is connected to with https only", async () => {
    const { client } = await service.account();
    const [safe, plain] = await Promise.all([
      testDelivery(client, `https://public.test:${port}/`),
      testDelivery(client, `http://public.test:${port}/`),
    ]);
    expect(safe?.error).to.be.oneOf(["connection", "timeout"]);
    expect(plain).to.include({ status: null, error: "address" });
  });

  it("is looked up once for each delivery, and the connection goes to the address that was checked", async () => {
    for (const [scheme, at] of [
      ["http", port],
      ["https", strangePort],
    ] as const) {
      const name = `rebinds-${scheme}.test`;
      const { client } = await service.account();
      const { path } = await createWebhook(client, { url: `${scheme}://${name}:${at}/rebinds` });
      await client.post(`${path}/test`);
      const first = await deliveryOf(client, path);
      expect(first?.error).to.equal(scheme === "http" ? null : "tls");
      expect(dns.lookups(name)).to.deep.equal({ ipv4: 1, ipv6: 1 });
      await client.post(`${path}/test`);
      expect(await deliveryOf(client, path, first?.at)).to.include({ status: null, error: "address" });
      expect(dns.lookups(name)).to.deep.equal({ ipv4: 2, ipv6: 2 });
    }
    expect(near.map(({ count }) => count)).to.deep.equal([0, 0, 0]);
    expect(nudges.filter(({ path }) => path === "/rebinds")).to.have.length(1);
  });

  it("may have many addresses: up to four of them are connected to", async () => {
    const { client } = await service.account();
    expect(await testDelivery(client, `http://behind-3.test:${port}/`)).to.include({ status: 204 });
    expect(await testDelivery(client, `http://behind-4.test:${port}/`)).to.include({ error: "connection" });
  });

  it("is what Host and TLS are told, and what the certificate must have", async () => {
    const { client } = await service.account();
    const { path, webhook } = await createWebhook(client, { url: `https://HOOKS.test:${tlsPort}/a?b=c#d` });
    await client.post("/candidates", {});
    await until(() => nudges.some((nudge) => nudge.path === "/a?b=c"));
    const nudge = nudges.find((each) => each.path === "/a?b=c");
    expect(nudge?.host).to.equal(`hooks.test:${tlsPort}`);
    expect(names).to.deep.equal(["hooks.test"]);
    new Webhook(webhook.secret).verify(nudge?.body ?? "", nudge?.headers as Record<string, string>);
    expect(await deliveryOf(client, path)).to.include({ status: 204, error: null });
    const wrong = [
      `strange.test:${strangePort}`,
      `other.hooks.test:${tlsPort}`,
      `hooks.test:${strangePort}`,
      `hooks.test:${port}`,
    ];
    const before = nudges.length;
    const account = await service.account();
    for (const host of wrong)
      expect(await testDelivery(account.client, `https://${host}/`), host).to.include({ status: null, error: "tls" });
    expect(nudges).to.have.length(before);
  });
});
