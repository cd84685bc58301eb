import { expect } from "chai";
import { Webhook } from "standardwebhooks";
import { until } from "../erasure/support.ts";
import { ALLOWED, useResolving } from "./resolving.ts";
import { createWebhook, deliveryOf, testDelivery } from "./support.ts";

/** Public, and never routed. */
const PUBLIC = "3000::1";
/** Allowed too. Nobody listens there. */
const REFUSING = ["127.0.0.4", "127.0.0.5", "127.0.0.6", "127.0.0.7"];

const FORBIDDEN = [
  "127.0.0.1 127.8.8.8 0.0.0.0 10.0.0.1 172.16.0.1 172.31.255.255 192.168.0.1 100.64.0.1 100.127.255.255",
  "169.254.169.254 192.0.0.8 192.0.2.1 192.88.99.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 240.0.0.1",
  "255.255.255.255 ::1 :: fe80::1 fc00::1 fd00:ec2::254 fec0::1 ff02::1 100::1 4000::1 5f00::1 ::ffff:127.0.0.1",
  "::ffff:10.0.0.1 ::127.0.0.1 ::ffff:0:127.0.0.1 64:ff9b::7f00:1 64:ff9b:1::7f00:1 2002:7f00:1::1 2001::1",
  "2001:db8::1 3fff::1 2001:20::1",
].flatMap((line) => line.split(" "));
/** What a name leads to that may not be sent to. */
const SETS = [...FORBIDDEN.map((each) => [each]), [PUBLIC, "127.0.0.1"], ["127.0.0.1", PUBLIC], [PUBLIC, "::1"], []];
/** The same, with http too. */
const MIXED = [
  [ALLOWED, "127.0.0.1"],
  [ALLOWED, "::1"],
  ["127.0.0.1", ALLOWED],
];

const ZONE: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(SETS.map((addresses, n) => [`forbidden-${n}.test`, addresses])),
  ...Object.fromEntries(MIXED.map((addresses, n) => [`mixed-${n}.test`, addresses])),
  "public.test": [PUBLIC],
  "hooks.test": [ALLOWED],
  "other.hooks.test": [ALLOWED],
  "strange.test": [ALLOWED],
  "crowded.test": Array.from({ length: 40 }, (_, n) => `10.0.0.${n + 100}`),
  "behind-3.test": [...REFUSING.slice(1), ALLOWED],
  "behind-4.test": [...REFUSING, ALLOWED],
};

describe("the name in a webhook's url", () => {
  const service = useResolving((name, nth) => {
    if (name === "rebinds.test") return nth === 0 ? [ALLOWED] : ["127.0.0.1", "::1"];
    return ZONE[name];
  });

  it("must lead to addresses that are all allowed, or public with https: nothing is sent to any other", async () => {
    const others = ["unknown.test", "localhost", "localhost.", "ats.localhost", `${"x".repeat(64)}.test`];
    const safe = Object.keys(ZONE).filter((name) => /^(forbidden|mixed)/.test(name));
    const plain = safe.filter((name) => name.startsWith("mixed"));
    const urls = [
      ...[...safe, ...others].map((name) => `https://${name}:${service.port}/`),
      ...[...plain, "public.test"].map((name) => `http://${name}:${service.port}/`),
    ];
    const each = async (url: string) => {
      const { client } = await service.account();
      const about = `${url} ${ZONE[new URL(url).hostname]?.join()}`;
      expect(await testDelivery(client, url), about).to.include({ status: null, error: "address" });
    };
    await Promise.all(urls.map(each));
    expect(service.near()).to.equal(0);
    expect(service.received).to.deep.equal([]);
  });

  it("is looked up once for each delivery, and the connection goes to the address that was checked", async () => {
    const { client } = await service.account();
    const { path } = await createWebhook(client, { url: `http://rebinds.test:${service.port}/rebinds` });
    await client.post(`${path}/test`);
    const first = await deliveryOf(client, path);
    expect(first).to.include({ status: 204 });
    expect(service.dns.lookups("rebinds.test")).to.deep.equal({ ipv4: 1, ipv6: 1 });
    await client.post(`${path}/test`);
    expect(await deliveryOf(client, path, first.at)).to.include({ status: null, error: "address" });
    expect(service.dns.lookups("rebinds.test")).to.deep.equal({ ipv4: 2, ipv6: 2 });
    expect(service.near()).to.equal(0);
  });

  it("may have many addresses: up to four of them are connected to", async () => {
    const { client } = await service.account();
    expect(await testDelivery(client, `http://behind-3.test:${service.port}/`)).to.include({ status: 204 });
    expect(await testDelivery(client, `http://behind-4.test:${service.port}/`)).to.include({ error: "connection" });
  });

  it("may lead to as many addresses as its owner likes: the log has some of those that were refused", async () => {
    const { client } = await service.account();
    expect(await testDelivery(client, `https://crowded.test:${service.port}/`)).to.include({ error: "address" });
    const reasons = () => service.log.flatMap(({ reason = "" }) => (reason.includes("10.0.0.100") ? [reason] : []));
    await until(() => reasons().length === 1);
    expect(reasons()[0]).to.have.length(300);
  });

  it("is what Host and TLS are told, and what the certificate must have", async () => {
    const { port, tlsPort, strangePort, received } = service;
    const { client } = await service.account();
    const { path, webhook } = await createWebhook(client, { url: `https://HOOKS.test:${tlsPort}/a?b=c#d` });
    await client.post("/candidates", {});
    await until(() => received.some((nudge) => nudge.path === "/a?b=c"));
    const nudge = received.find((each) => each.path === "/a?b=c");
    expect(nudge?.headers.host).to.equal(`hooks.test:${tlsPort}`);
    expect(nudge?.servername).to.equal("hooks.test");
    new Webhook(webhook.secret).verify(nudge?.body ?? "", nudge?.headers as Record<string, string>);
    expect(await deliveryOf(client, path)).to.include({ status: 204, error: null });
    const before = received.length;
    const account = await service.account();
    for (const host of [
      `strange.test:${strangePort}`,
      `other.hooks.test:${tlsPort}`,
      `hooks.test:${strangePort}`,
      `hooks.test:${port}`,
    ])
      expect(await testDelivery(account.client, `https://${host}/`), host).to.include({ status: null, error: "tls" });
    expect(received).to.have.length(before);
  });
});
