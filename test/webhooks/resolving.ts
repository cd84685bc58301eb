import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import type { AddressInfo } from "node:net";
import { openOperators } from "../support/operators.ts";
import { type Settings, startMember } from "../support/processes.ts";
import { environmentOf, newAccount, testConfig, type TestAccount } from "../support/service.ts";
import type { Dns } from "./dns.ts";

/** The service in production, in a child process that asks the DNS server of a test. */
export interface Resolving {
  account(): Promise<TestAccount>;
  stop(): Promise<void>;
}

export async function startResolving(dns: Dns, settings: Settings, ca: string): Promise<Resolving> {
  const config = testConfig({ NODE_ENV: "production", LIMIT_SCALE: 100, ...settings });
  const resolver = {
    NODE_OPTIONS: "--import ./test/webhooks/dns-server.mjs",
    TEST_DNS_SERVER: dns.server,
    NODE_EXTRA_CA_CERTS: ca,
  };
  const [member, operators] = await Promise.all([
    startMember({ ...environmentOf(config), ...resolver }),
    openOperators(config),
  ]);
  return {
    account: () => newAccount(operators, `http://127.0.0.1:${member.port}`),
    async stop() {
      await member.end("SIGTERM");
      await operators.mongo.db.dropDatabase();
      await operators.close();
    },
  };
}

export interface Certificate {
  readonly key: Buffer;
  readonly cert: Buffer;
  readonly path: string;
}

/** Makes a certificate for a name, signed by itself. Needs openssl. */
export function certificateFor(name: string, dir: string): Certificate {
  const [key, path] = [join(dir, `${name}.key`), join(dir, `${name}.crt`)];
  const ask = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"];
  const named = ["-subj", `/CN=${name}`, "-addext", `subjectAltName=DNS:${name}`];
  execFileSync("openssl", [...ask, ...named, "-keyout", key, "-out", path], { stdio: "ignore" });
  return { key: readFileSync(key), cert: readFileSync(path), path };
}

/** Listens. @param port any free one by default. @returns the port. */
export async function listening(server: Server, host: string, port = 0): Promise<number> {
  await once(server.listen(port, host), "listening");
  return (server.address() as AddressInfo).port;
}

/** Counts the connections to a port of an address, and ends each. */
export async function countConnections(host: string, port: number): Promise<{ count: number; close(): void }> {
  const counted = { count: 0, close: () => void server.close() };
  const server = createServer((socket) => {
    counted.count++;
    socket.destroy();
  });
  await listening(server, host, port);
  return counted;
}
