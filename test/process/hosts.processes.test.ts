import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { networkInterfaces } from "node:os";
import { promisify } from "node:util";
import { expect } from "chai";
import { describeConfig, readConfig } from "../../src/config.ts";
import { makeKey } from "../../src/accounts/key.ts";
import { randomBytes } from "node:crypto";
import { type Member, startMember } from "../support/processes.ts";
import { environmentOf, testConfig } from "../support/service.ts";

const run = promisify(execFile);

const HAS_IPV6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === "::1"));

/** The command of the image's health check, which runs beside the service. */
const [, HEALTH_CHECK = "[]"] = /^HEALTHCHECK [^]*?CMD (\[.*\])$/m.exec(readFileSync("Dockerfile", "utf8")) ?? [];

/** Each HOST with a number of processes, and the addresses at which clients, probes and Prometheus find them. */
const HOSTS: [host: string, replicas: number, addresses: readonly string[]][] = [
  ["", 1, ["127.0.0.1", "[::1]", "localhost"]],
  ["", 2, ["127.0.0.1", "[::1]", "localhost"]],
  ["0.0.0.0", 1, ["127.0.0.1", "localhost"]],
  ["::1", 1, ["[::1]"]],
];

describe("a service that listens on HOST", function () {
  this.timeout(60_000);
  const config = testConfig();
  let member: Member;
  afterEach(() => member?.end("SIGTERM"));

  it("has every address of the machine by default", () => {
    expect(describeConfig(readConfig({})).find(({ name }) => name === "HOST")?.default).to.equal("::");
  });

  for (const [host, replicas, addresses] of HOSTS)
    it(`${host || "(default)"} is found at ${addresses.join(", ")}, with ${replicas} processes`, async function () {
      if (host.includes(":") && !HAS_IPV6) this.skip();
      member = await startMember({ ...environmentOf(config), HOST: host, REPLICAS: String(replicas) });
      for (const address of addresses.filter((each) => HAS_IPV6 || !each.includes(":"))) {
        const status = async (url: string) => (await fetch(url)).status;
        expect(await status(`http://${address}:${member.port}/openapi.json`), address).to.equal(200);
        expect(await status(`http://${address}:${member.opsPort}/readyz`), address).to.equal(200);
        expect(await status(`http://${address}:${member.opsPort}/metrics`), address).to.equal(200);
      }
      const [node = "", ...args] = JSON.parse(HEALTH_CHECK) as string[];
      await run(node, args, { env: { ...process.env, HOST: host, OPS_PORT: String(member.opsPort) } });
    });

  it("counts wrong keys of an IPv4 client by its own address, not by that of all mapped ones", async () => {
    const settings = { HOST: "::", TRUSTED_PROXIES: "1" };
    member = await startMember({ ...environmentOf(config), ...settings });
    const guess = async (from: string) => {
      const headers = { Authorization: `Bearer ${makeKey(randomBytes)}`, "X-Forwarded-For": from };
      return (await fetch(`http://127.0.0.1:${member.port}/limits`, { headers })).status;
    };
    const statuses = new Set<number>();
    for (let n = 0; n < 20; n++) statuses.add(await guess("::ffff:203.0.113.7"));
    expect([...statuses]).to.deep.equal([401]);
    expect(await guess("203.0.113.7"), "the same client").to.equal(429);
    expect(await guess("::ffff:cb00:7107"), "the same, in hexadecimal").to.equal(429);
    expect(await guess("::ffff:203.0.113.8"), "another client").to.equal(401);
    expect(await guess("::ffff:cb00:7108"), "another, in hexadecimal").to.equal(401);
  });
});
