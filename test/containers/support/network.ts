import { useStarted } from "../../support/use-started.ts";
import { Client } from "../../support/client.ts";
import { fixBridgeAddresses } from "./bridges.ts";
import { IMAGE } from "./image.ts";
import { eventually, podman, publishedUrl, untilOk } from "./podman.ts";

/** A network with Redis and MongoDB in it, under the names `redis` and `mongo`. */
export interface Network {
  readonly name: string;
  readonly urls: { readonly REDIS_URL: string; readonly MONGODB_URL: string };
  stop(): Promise<void>;
}

/** Starts a network before the tests of the `describe` that calls this, and removes it after them. */
export function useNetwork(name: string): Network {
  return useStarted(
    "The network",
    () => startNetwork(name),
    (network) => network.stop(),
  );
}

async function startNetwork(name: string): Promise<Network> {
  const servers = { redis: ["redis:7.2"], mongo: ["mongo:7.0", "mongod", "--bind_ip_all"] };
  const containers = Object.keys(servers).map((server) => `${name}-${server}`);
  await podman("network", "create", name);
  for (const [server, image] of Object.entries(servers)) {
    const options = [`--name=${name}-${server}`, `--network=${name}`, `--network-alias=${server}`];
    await podman("run", "--detach", ...options, ...image);
  }
  await fixBridgeAddresses();
  await eventually(() => podman("exec", `${name}-redis`, "redis-cli", "ping"));
  await eventually(() => podman("exec", `${name}-mongo`, "mongosh", "--quiet", "--eval", "db.hello().ok"));
  return {
    name,
    urls: { REDIS_URL: "redis://redis:6379", MONGODB_URL: "mongodb://mongo:27017/onboarding" },
    async stop() {
      await podman("rm", "--force", "--volumes", "--time=0", ...containers);
      await podman("network", "rm", name);
    },
  };
}

/** A container of the service, with its two ports published on 127.0.0.1. */
export interface ServiceContainer {
  readonly name: string;
  readonly url: string;
  readonly opsUrl: string;
  remove(): Promise<void>;
}

/** The options of a deployment: no file can be written, not even in /tmp, and no capability is left. */
const HARDENED = ["--read-only", "--read-only-tmpfs=false", "--cap-drop=all", "--security-opt=no-new-privileges"];

/** Starts a container of the image on the network, and waits until it is ready. */
export async function runService(
  name: string,
  network: Network,
  settings: Record<string, string> = {},
): Promise<ServiceContainer> {
  const env = Object.entries({ ...network.urls, ...settings }).map(([key, value]) => `--env=${key}=${value}`);
  const ports = ["--publish=127.0.0.1::8080", "--publish=127.0.0.1::9090"];
  await podman("run", "--detach", `--name=${name}`, `--network=${network.name}`, ...HARDENED, ...ports, ...env, IMAGE);
  const opsUrl = await publishedUrl(name, 9090);
  await untilOk(`${opsUrl}/readyz`);
  return {
    name,
    url: await publishedUrl(name, 8080),
    opsUrl,
    remove: async () => void (await podman("rm", "--force", "--time=0", name)),
  };
}

/** Runs the operators' command line in a container of the service. @returns the object that it prints. */
export async function admin(container: string, ...args: string[]): Promise<{ id: string; key: string }> {
  const printed = await podman("exec", "--env=ADMIN_ACTOR=test", container, "node", "dist/admin/main.js", ...args);
  return JSON.parse(printed) as { id: string; key: string };
}

/** Creates an account with keys by the command line, as an operator does. @returns a client for each key. */
export async function newClients(container: string, url: string, count: number): Promise<[Client, ...Client[]]> {
  const { id } = await admin(container, "accounts", "create", "--name", "Test");
  const clients = [];
  for (let n = 0; n < count; n++) {
    const { key } = await admin(container, "keys", "create", "--account", id, "--name", `key ${n}`);
    clients.push(new Client(url, key));
  }
  return clients as [Client, ...Client[]];
}
