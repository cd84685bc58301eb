import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, createServer as createTcpServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { TLSSocket } from "node:tls";
import { openOperators } from "../support/operators.ts";
import { type Member, type Settings, startMember } from "../support/processes.ts";
import { environmentOf, newAccount, testConfig, type TestAccount } from "../support/service.ts";
import { forwardTo } from "../support/use-started.ts";
import { type Dns, startDns, type Zone } from "./dns.ts";

/** In WEBHOOK_ALLOWED_NETWORKS, as 127.0.0.4 to 127.0.0.7 are. Nothing else of loopback is. Receivers listen there. */
export const ALLOWED = "127.0.0.2";

interface Nudge {
  /** The name that TLS was told; undefined without TLS. */
  readonly servername: string | false | null | undefined;
  readonly path: string | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** The service in production, in a child process that asks the DNS server of a test, and its receivers. */
export interface Resolving {
  account(): Promise<TestAccount>;
  readonly dns: Dns;
  readonly received: Nudge[];
  readonly log: Member["log"];
  /** Of the receiver with http, of that with a valid certificate of hooks.test, and of that with one nobody trusts. */
  readonly port: number;
  readonly tlsPort: number;
  readonly strangePort: number;
  /** Number of connections to the same ports of other addresses of loopback. */
  near(): number;
}

/** Starts them before the tests of the `describe` that calls this. Without openssl, its tests are skipped. */
export function useResolving(zone: Zone, settings: () => Settings = () => ({})): Resolving {
  const stops: (() => unknown)[] = [];
  let current: Resolving | undefined;
  before(async function () {
    const dir = mkdtempSync(join(tmpdir(), "onboarding-names-"));
    let right, strange;
    try {
      [right, strange] = [certificateFor("hooks.test", dir), certificateFor("strange.test", dir)];
    } catch {
      process.stdout.write("      skipped: openssl is needed to make a certificate\n");
      this.skip();
    }
    const received: Nudge[] = [];
    const take = async (request: IncomingMessage, response: ServerResponse) => {
      const { socket, url: path, headers } = request;
      const servername = socket instanceof TLSSocket ? socket.servername : undefined;
      received.push({ servername, path, headers, body: await text(request) });
      response.writeHead(204).end();
    };
    const listen = async (server: Server, host = ALLOWED, port = 0) => {
      await once(server.listen(port, host), "listening");
      stops.push(() => server.close());
      return (server.address() as AddressInfo).port;
    };
    const port = await listen(createServer((...both) => void take(...both)));
    const tlsPort = await listen(createTlsServer(right, (...both) => void take(...both)));
    const strangePort = await listen(createTlsServer(strange, (...both) => void take(...both)));
    let near = 0;
    for (const [host, at] of [
      ["127.0.0.1", port],
      ["127.0.0.1", tlsPort],
      ["::1", port],
    ] as const)
      await listen(
        createTcpServer((socket) => void (near++, socket.destroy())),
        host,
        at,
      );
    const dns = await startDns(zone);
    stops.push(() => dns.close());
    const allowed = { WEBHOOK_ALLOWED_NETWORKS: `${ALLOWED}/32, 127.0.0.4/30` };
    const config = testConfig({ NODE_ENV: "production", LIMIT_SCALE: 100, ...allowed, ...settings() });
    const operators = await openOperators(config);
    stops.push(() => operators.mongo.db.dropDatabase().then(() => operators.close()));
    const member = await startMember({
      ...environmentOf(config),
      NODE_OPTIONS: "--import ./test/webhooks/dns-server.mjs",
      TEST_DNS_SERVER: dns.server,
      NODE_EXTRA_CA_CERTS: right.path,
    });
    stops.push(() => member.end("SIGTERM"));
    const account = () => newAccount(operators, `http://127.0.0.1:${member.port}`);
    current = { account, dns, received, log: member.log, port, tlsPort, strangePort, near: () => near };
  });
  after(async () => {
    for (const stop of stops.toReversed()) await stop();
  });
  return forwardTo("The service", () => current);
}

/** Makes a certificate for a name, signed by itself. Needs openssl. */
function certificateFor(name: string, dir: string) {
  const [key, path] = [join(dir, `${name}.key`), join(dir, `${name}.crt`)];
  const ask = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"];
  const named = ["-subj", `/CN=${name}`, "-addext", `subjectAltName=DNS:${name}`];
  execFileSync("openssl", [...ask, ...named, "-keyout", key, "-out", path], { stdio: "ignore" });
  return { key: readFileSync(key), cert: readFileSync(path), path };
}
