import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { Redis } from "ioredis";
import { freePort } from "../../../src/dev/server-process.ts";
import { connectMongo } from "../../../src/infra/mongo.ts";
import { adminProcess, answerOf, complaintOf } from "../../admin/support.ts";
import { startRedis, startSentinel } from "../../support/servers.ts";
import { testConfig } from "../../support/service.ts";

const [OF_REDIS, OF_SENTINEL] = ["of-redis", "of/the sentinels"];

/** The certificate is its own authority, so the commands below get it as NODE_EXTRA_CA_CERTS, as an operator gives it. */
describe("REDIS_URL with TLS", function () {
  this.timeout(60_000);
  const dir = mkdtempSync(join(tmpdir(), "onboarding-tls-"));
  const [key, certificate] = [join(dir, "key.pem"), join(dir, "certificate.pem")];
  const database = testConfig().MONGODB_URL ?? "";
  const stops: (() => Promise<void>)[] = [];
  const tls = (port: number) => [
    "--tls-port",
    `${port}`,
    "--tls-auth-clients",
    "no",
    "--tls-replication",
    "yes",
    "--tls-cert-file",
    certificate,
    "--tls-key-file",
    key,
    "--tls-ca-cert-file",
    certificate,
  ];

  before(function () {
    const names = "subjectAltName=IP:127.0.0.1,DNS:localhost";
    const ask = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"];
    try {
      execFileSync("openssl", [...ask, "-addext", names, "-keyout", key, "-out", certificate], { stdio: "ignore" });
    } catch {
      process.stdout.write("      skipped: openssl is needed to make a certificate\n");
      this.skip();
    }
  });
  afterEach(async () => {
    await Promise.all(stops.splice(0).map((stop) => stop()));
  });
  after(async () => {
    rmSync(dir, { recursive: true, force: true });
    const mongo = await connectMongo({ url: database, timeoutMs: 5_000 });
    await mongo.db.dropDatabase();
    await mongo.close();
  });

  it("reaches a Cluster", async () => {
    const port = await freePort();
    const busPort = `${await freePort()}`;
    const announced = ["--cluster-announce-ip", "127.0.0.1", "--cluster-port", busPort];
    const cluster = ["--cluster-enabled", "yes", "--tls-cluster", "yes", ...announced];
    const server = await startRedis({ args: [...tls(port), ...cluster] });
    stops.push(() => server.stop());
    const operator = new Redis(server.url);
    await operator.config("SET", "requirepass", OF_REDIS);
    await operator.cluster("ADDSLOTSRANGE", 0, 16_383);
    while (!/cluster_state:ok/.test(await operator.cluster("INFO")));
    operator.disconnect();
    await Promise.all([
      expectUsable(`rediss+cluster://:${OF_REDIS}@localhost:${port}`),
      expectRefused(`redis+cluster://:${OF_REDIS}@localhost:${port}`),
    ]);
  });

  it("reaches Sentinels that have a password of their own, and their master", async () => {
    const port = await freePort();
    const server = await startRedis({ args: tls(port) });
    stops.push(() => server.stop());
    const operator = new Redis(server.url);
    await operator.config("SET", "requirepass", OF_REDIS);
    operator.disconnect();
    const sentinelPort = await startSentinelWithTls(port);
    const sentinels = (password: string) =>
      `rediss+sentinel://:${OF_REDIS}@localhost:${sentinelPort}/limits?sentinelPassword=${encodeURIComponent(password)}`;
    await Promise.all([expectUsable(sentinels(OF_SENTINEL)), expectRefused(sentinels("wrong"))]);
  });

  /** Starts a Sentinel with TLS for the master at this port, and returns its TLS port. */
  async function startSentinelWithTls(masterPort: number): Promise<number> {
    const tlsPort = await freePort();
    const lines = [
      `sentinel monitor limits 127.0.0.1 ${masterPort} 1`,
      `sentinel auth-pass limits ${OF_REDIS}`,
      `requirepass "${OF_SENTINEL}"`,
    ];
    const options = { password: OF_SENTINEL, args: tls(tlsPort) };
    const sentinel = await startSentinel(join(dir, "sentinel.conf"), lines, options);
    stops.push(() => sentinel.stop());
    return tlsPort;
  }

  const environment = (url: string) => ({
    MONGODB_URL: database,
    REDIS_URL: url,
    NODE_EXTRA_CA_CERTS: certificate,
  });

  /** Expects that the command line can read what an account has used, which is in Redis. */
  async function expectUsable(url: string): Promise<void> {
    const env = environment(url);
    const { id } = (await answerOf(["accounts", "create", "--name", "Acme"], env, adminProcess)) as { id: string };
    expect(await answerOf(["limits", "show", "--account", id], env, adminProcess)).to.include({ account_id: id });
    const distrusting = { ...env, NODE_EXTRA_CA_CERTS: "" };
    expect(await complaintOf(["limits", "show", "--account", id], distrusting, adminProcess)).to.contain("Redis");
  }

  async function expectRefused(url: string): Promise<void> {
    const complaint = await complaintOf(["limits", "show", "--account", "acct_none"], environment(url), adminProcess);
    expect(complaint).to.contain("Redis");
  }
});
