import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import { freePort } from "../../../src/dev/server-process.ts";
import { fixBridgeAddresses } from "./bridges.ts";
import { podman } from "./podman.ts";

/** docker-compose.yml, brought up as an operator does. */
export interface Stack {
  /** Where the balancer listens. */
  readonly url: string;
  /** Starts everything, and waits until the replicas are healthy and the balancer listens. */
  up(): Promise<void>;
  /** Stops and removes the containers. */
  down(options?: { volumes: boolean }): Promise<void>;
  /** Returns the ids of the running containers of a service of the file. */
  containers(service: string): Promise<string[]>;
}

const ATTEND_EVERY_MS = 500;

export async function newStack(): Promise<Stack> {
  const address = `127.0.0.1:${await freePort()}`;
  const more = join(await mkdtemp(join(tmpdir(), "onboarding-compose-")), "settings.json");
  await writeFile(more, JSON.stringify({ services: { service: { environment: await settings() } } }));
  const files = ["--file=docker-compose.yml", `--file=${more}`];
  const env = { ...process.env, PUBLISH: address, COMPOSE_HTTP_TIMEOUT: "300" };
  const compose = async (...args: string[]) => {
    const { stdout } = await promisify(execFile)("docker-compose", ["--project-name=stack", ...files, ...args], {
      env,
    });
    return stdout.trim();
  };
  return {
    url: `http://${address}`,
    async up() {
      await attended(() => compose("up", "--detach", "--no-build"));
      await listening(address);
    },
    down: async ({ volumes } = { volumes: false }) => void (await compose("down", ...(volumes ? ["--volumes"] : []))),
    containers: async (service) => (await compose("ps", "--quiet", service)).split("\n"),
  };
}

/** Returns the settings that the tests add to those of docker-compose.yml. */
async function settings(): Promise<Record<string, string>> {
  // All containers share one machine, so a busy moment must not count as an outage.
  const timeouts = { LIMITER_TIMEOUT_MS: "5000" };
  const madeOf = await podman("image", "inspect", "mongo:7.0", "--format", '{{index .Config.Labels "made-of"}}');
  // The stand-in for MongoDB is no replica set, so the service must not ask it for one.
  return madeOf.includes("stand-in") ? { ...timeouts, MONGODB_URL: "mongodb://mongo:27017/onboarding" } : timeouts;
}

/**
 * Does what Debian's podman leaves out, until the work is done: fixes the bridge's address, and runs the health checks if no
 * systemd runs them. The replicas start after the health checks of Redis and MongoDB, so the address is fixed before they
 * look up a name.
 */
async function attended(work: () => Promise<unknown>): Promise<void> {
  const isSystemdHere = existsSync("/run/systemd/system");
  let over = false;
  async function attend(): Promise<void> {
    while (!over) {
      await fixBridgeAddresses();
      if (!isSystemdHere) await runHealthChecks();
      await setTimeout(ATTEND_EVERY_MS);
    }
  }
  const working = work().finally(() => (over = true));
  await Promise.all([working, attend()]);
}

/** Waits until somebody listens there, at most 30 s: `up` returns once the balancer's process has been started. */
async function listening(address: string): Promise<void> {
  const [host = "", port] = address.split(":");
  const refused = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect(Number(port), host, () => {
        socket.destroy();
        resolve(false);
      });
      socket.once("error", () => resolve(true));
    });
  for (let tries = 0; (await refused()) && tries < 300; tries++) await setTimeout(100);
}

async function runHealthChecks(): Promise<void> {
  const starting = await podman("ps", "--quiet", "--filter=health=starting");
  for (const id of starting.split("\n")) {
    // A check that fails, or whose container is gone, is retried.
    if (id !== "") await podman("healthcheck", "run", id).catch(() => undefined);
  }
}
