import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { parse } from "yaml";
import { freePort } from "../../../src/dev/server-process.ts";
import type { Backend } from "./balancer.ts";

export interface HaProxy {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Starts the balancer of docker-compose.yml on this machine. Its configuration is the one of that file, with other addresses.
 * Resolves once it responds to requests.
 */
export async function startHaProxy(program: string, replicas: readonly Backend[]): Promise<HaProxy> {
  const dir = mkdtempSync(join(tmpdir(), "onboarding-haproxy-"));
  const port = await freePort();
  writeFileSync(join(dir, "haproxy.cfg"), configuration(port, replicas));
  const child: ChildProcess = spawn(program, ["-db", "-f", join(dir, "haproxy.cfg")], {
    stdio: "ignore",
  });
  const exited = once(child, "exit");
  const url = `http://127.0.0.1:${port}`;
  const responds = () =>
    fetch(`${url}/openapi.json`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (child.exitCode === null && !(await responds())) await setTimeout(20);
  return {
    url,
    async stop() {
      child.kill("SIGKILL");
      await exited;
      rmSync(dir, { recursive: true });
    },
  };
}

function configuration(port: number, replicas: readonly Backend[]): string {
  const { services } = parse(readFileSync("docker-compose.yml", "utf8")) as {
    services: { balancer: { environment: { CONFIG: string } } };
  };
  const servers = replicas.map(
    (replica, index) => `  server replica${index} 127.0.0.1:${replica.port} check port ${replica.opsPort}`,
  );
  const changes = [
    [/bind :8080$/m, `bind 127.0.0.1:${port}`],
    [/^ *server-template replica .*$/m, servers.join("\n")],
  ] as const;
  return changes.reduce((text, [found, put]) => {
    if (!found.test(text)) throw new Error(`The balancer of docker-compose.yml has no line like ${found.source}.`);
    return text.replace(found, put);
  }, services.balancer.environment.CONFIG);
}
